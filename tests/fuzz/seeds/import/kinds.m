// Each type of layer once, a name that is no identifier, and a name twice.
Network kinds {
  Layer depth-wise.1 {
    Type: DSCONV
    Dimensions { K: 1, C: 12, R: 3, S: 3, Y: 8, X: 8 }
    Dataflow { SpatialMap(1,1) C; TemporalMap(3,1) Y; TemporalMap(3,1) X; TemporalMap(3,3) R; TemporalMap(3,3) S; }
  }
  Layer twice {
    Type: TRCONV
    Dimensions { K: 2, C: 2, R: 3, S: 3, Y: 5, X: 5 }
    Dataflow { SpatialMap(1,1) K; TemporalMap(1,1) C; TemporalMap(3,1) Y; TemporalMap(3,1) X; TemporalMap(3,3) R; TemporalMap(3,3) S; }
  }
  Layer twice {
    Type: GEMM
    Dimensions { M: 9, N: 10, K: 11 }
    Dataflow { TemporalMap(4,4) M; SpatialMap(3,3) N; TemporalMap(11,11) K; }
  }
  Layer groups {
    Type: NGCONV
    Dimensions { G: 2, K: 4, C: 4, R: 3, S: 3, Y: 6, X: 6 }
    Dataflow { TemporalMap(1,1) G; SpatialMap(1,1) K; TemporalMap(1,1) C; TemporalMap(3,1) Y; TemporalMap(3,1) X; TemporalMap(3,3) R; TemporalMap(3,3) S; }
  }
}
