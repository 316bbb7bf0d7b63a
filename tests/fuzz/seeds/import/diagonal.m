Network diagonal {
  Layer rows_with_taps {
    Type: CONV
    Dimensions { K: 3, C: 2, R: 4, S: 3, Y: 9, X: 7 }
    Dataflow {
      TemporalMap(1,1) K;
      TemporalMap(1,1) C;
      SpatialMap(4,1) Y;
      TemporalMap(3,1) X;
      Cluster(4, P);
      SpatialMap(1,1) Y;
      SpatialMap(1,1) R;
      TemporalMap(3,3) S;
    }
  }
}
