Network primed {
  Layer outputs_first {
    Type: CONV
    Dimensions { K: 7, C: 3, R: 2, S: 2, Y: 6, X: 9 }
    Dataflow {
      SpatialMap(2,2) Y';
      TemporalMap(4,4) X';
      TemporalMap(7,7) K;
      TemporalMap(1,1) C;
      TemporalMap(2,2) R;
      TemporalMap(2,2) S;
    }
  }
  Layer says_nothing { Type: CONV Dimensions { K: 4, C: 3, R: 1, S: 1, Y: 5, X: 5 } }
}
