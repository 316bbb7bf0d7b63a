/* Tiles that overlap, leave gaps, and reach past the end. */
Network overlaps {
  Layer tiles {
    Type: CONV
    Dimensions { K: 10, C: 6, R: 3, S: 3, Y: 11, X: 11 }
    Dataflow {
      TemporalMap(4,3) K;
      TemporalMap(2,3) C;
      SpatialMap(5,2) Y;
      TemporalMap(5,4) X;
      TemporalMap(3,3) R;
      TemporalMap(3,3) S;
    }
  }
}
