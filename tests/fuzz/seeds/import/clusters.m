Constant Lanes 4;
Network clusters {
  Layer three_levels {
    Type: CONV
    Dimensions { N: 2, K: 16, C: 8, R: 3, S: 3, Y: 10, X: 10 }
    Dataflow {
      TemporalMap(1,1) N;
      SpatialMap(2,2) K;
      TemporalMap(4,4) C;
      TemporalMap(Sz(R),1) Y;
      TemporalMap(Sz(S),1) X;
      Cluster(Lanes, P);
      SpatialMap(1,1) C;
      TemporalMap(Sz(R),Sz(R)) R;
      TemporalMap(Sz(S),Sz(S)) S;
      Cluster(2, L);
      SpatialMap(1,1) K;
    }
  }
}
