Network damaged {
  Layer one {
    Type: CONV
    Stride { X: 0 }
    Dimensions { K: 99999999999999999999, C: , Q: 3 }
    Dataflow { SpatialMap(0,1) K; TemporalMap(Sz(Z),2 C; Cluster(0,X); SpatialMap(1,1) C
  }
  Layer 7 { Type: WARP }
