// Two layers in the directives of MAESTRO: a strided convolution, filters spread over the elements, and a matrix product.
Network two_layers {
  Layer conv {
    Type: CONV
    Stride { X: 2, Y: 2 }
    Dimensions { K 64, C 32, R 3, S 3, Y 57, X 57 }
    Dataflow {
      SpatialMap(1,1) K;
      TemporalMap(16,16) C;
      TemporalMap(Sz(R),1) Y;
      TemporalMap(Sz(S),1) X;
      TemporalMap(Sz(R),Sz(R)) R;
      TemporalMap(Sz(S),Sz(S)) S;
      Cluster(16,P);
      SpatialMap(1,1) C;
      TemporalMap(Sz(R),1) Y;
      TemporalMap(Sz(S),1) X;
      TemporalMap(Sz(R),Sz(R)) R;
      TemporalMap(Sz(S),Sz(S)) S;
    }
  }
  Layer product {
    Type: GEMM
    Dimensions { M 128, N 256, K 512 }
    Dataflow {
      TemporalMap(16,16) N;
      SpatialMap(1,1) M;
      TemporalMap(64,64) K;
    }
  }
}
