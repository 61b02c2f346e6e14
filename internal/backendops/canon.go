package backendops

import (
	"slices"
	"strings"
)

// common are cases of the operations that every family's graph has: small
// ones, of the types that a Q4_0 model computes with.
var common = []string{
	"MUL_MAT(type_a=q4_0,type_b=f32,m=16,n=1,k=256,bs=[1,1],nr=[1,1],per=[0,1,2,3],k_v=0,o=1,src_overlap=0)",
	"MUL_MAT(type_a=q4_0,type_b=f32,m=16,n=16,k=256,bs=[1,1],nr=[1,1],per=[0,1,2,3],k_v=0,o=1,src_overlap=0)",
	"GET_ROWS(type=f32,n=256,m=5,r=4,be1=1,be2=1,v=0,vs0=0,offset_cols=0)",
	"SET_ROWS(type_src=f32,type_dst=f16,type_idx=i64,ne=[256,5,1,3],nr23=[1,1],r=1,v=0)",
	"RMS_NORM(type=f32,ne=[64,5,4,3],v=0,eps=0.000001,inplace=0)",
	"ADD(type=f32,ne=[10,5,4,3],nr=[1,1,1,1],nf=1,perm1=0,src_overlap=0)",
	"MUL(type=f32,ne=[10,5,4,3],nr=[1,1,1,1],nf=1,perm1=0,src_overlap=0)",
	"ROPE(type=f32,ne_a=[64,8,2,1],n_dims=64,mode=2,n_ctx=512,fs=1.000000,ef=0.000000,af=1.000000,ff=0,v=0,inplace=0,n_offs=0)",
	"SOFT_MAX(type=f32,ne=[16,16,1,1],mask=1,sinks=0,m_prec=f32,nr23=[1,1],scale=1.000000,max_bias=0.000000,inplace=0)",
	"FLASH_ATTN_EXT(hsk=64,hsv=64,nh=4,nr23=[1,1],kv=113,nb=1,mask=1,sinks=0,max_bias=0.000000,logit_softcap=0.000000,prec=f32,type_K=f16,type_V=f16,permute=[0,1,2,3],kv_view=1,v_is_view_of_k=0,n_kv_max=0)",
	"SWIGLU(type=f32,ne_a=[128,2,2,2],v=0,swapped=0)",
}

// byFamily are what a family's graph has beyond that.
var byFamily = map[string][]string{
	"gemma4": {
		"SCALE(type=f32,ne=[10,10,10,10],scale=2.000000,bias=0.000000,inplace=0)",
		"GEGLU(type=f32,ne_a=[128,2,2,2],v=0,swapped=0)",
		"TANH(type=f32,ne_a=[128,2,2,2],v=0)",
	},
	"qwen35": {
		"ROPE(type=f32,ne_a=[128,12,2,1],n_dims=128,mode=8,n_ctx=512,fs=1.000000,ef=0.000000,af=1.000000,ff=0,v=0,inplace=0,n_offs=0)",
		"SSM_CONV(type=f32,ne_a=[6,1024,1,1],ne_b=[3,1024,1,1])",
		"GATED_DELTA_NET(type=f32,head_count=4,head_size=64,n_seq_tokens=4,n_seqs=1,v_repeat=1,permuted=0,kda=0,K=1)",
		"L2_NORM(type=f32,ne=[64,5,4,3],eps=0.000001,v=0,noncontig_rows=0)",
		"SIGMOID(type=f32,ne_a=[128,2,2,2],v=0)",
		"SOFTPLUS(type=f32,ne_a=[128,2,2,2],v=0)",
		"REPEAT(type=f32,ne=[10,5,4,1],nr=[2,1,1,1])",
		"CONCAT(type=f32,ne_a=[11,12,13,14],ne_b_d=7,dim=0,v=0)",
	},
}

// Sample lists a few small cases of the operations that the families' graphs
// consist of, by the names of the pinned llama.cpp release: enough to see that
// a backend computes right before it is timed, in seconds. An unknown family
// has the operations that all have.
func Sample(families []string) []string {
	list := slices.Clone(common)
	known := slices.Clone(families)
	slices.Sort(known)
	for _, family := range slices.Compact(known) {
		list = append(list, byFamily[family]...)
	}
	return list
}

// Filter joins cases to what Arguments takes as a filter.
func Filter(cases []string) string { return strings.Join(cases, ",") }
