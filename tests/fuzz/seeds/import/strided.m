Network strided {
  Layer pair_of_columns {
    Type: CONV
    Stride { X: 2, Y: 3 }
    Dimensions { K 6, C 5, R 3, S 2, Y 13, X 12 }
    Dataflow {
      TemporalMap(2,2) K;
      TemporalMap(3,3) C;
      SpatialMap(3,3) Y;
      TemporalMap(2,2) X;
      TemporalMap(3,3) R;
      TemporalMap(2,2) S;
    }
  }
}
