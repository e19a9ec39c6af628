package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var leaderChecks = []check{{"leadership passes on when its holder releases the Lease", leaderElection}}

func leaderElection(ctx context.Context, env Environment) error {
	leads := make(chan string, 8)
	candidate := func(ctx context.Context, name string) error {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "election", Namespace: env.Namespace},
			Client:     env.Client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 200 * time.Millisecond, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- name },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		go elector.Run(ctx)
		return nil
	}
	firstContext, endFirst := context.WithCancel(ctx)
	defer endFirst()
	if err := candidate(firstContext, "first"); err != nil {
		return err
	}
	if err := expectLeader(ctx, leads, "first"); err != nil {
		return err
	}
	if err := candidate(ctx, "second"); err != nil {
		return err
	}
	select {
	case name := <-leads:
		return fmt.Errorf("%s leads while first holds the Lease", name)
	case <-time.After(time.Second):
	}
	endFirst()
	if err := expectLeader(ctx, leads, "second"); err != nil {
		return err
	}
	lease, err := env.Client.CoordinationV1().Leases(env.Namespace).Get(ctx, "election", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if *lease.Spec.HolderIdentity != "second" || *lease.Spec.LeaseTransitions < 1 {
		return differ("the Lease", "held by second after a transition", lease.Spec)
	}
	return nil
}

func expectLeader(ctx context.Context, leads <-chan string, want string) error {
	select {
	case name := <-leads:
		if name != want {
			return differ("leader", want, name)
		}
		return nil
	case <-ctx.Done():
		return differ("leader", want, "none")
	}
}
