// Enforces NetworkPolicies on the one node of the test cluster: their meaning as nftables rules, in one transaction after
// each change. Selectors and caches are Kubernetes' own. Connections of a pod are held to its policies as soon as the API
// server tells its address, a moment after its start. Besides, it plays the metadata service of a cloud, which sandboxes
// must not reach.
// usage: network KUBECONFIG
package main

import (
	"log"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const metadataAddress = "169.254.169.254:80"

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	client, err := kubernetes.NewForConfig(config)
	check(err)
	go func() {
		check(http.ListenAndServe(metadataAddress, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("secrets of the machine\n"))
		})))
	}()

	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	namespaces := factory.Core().V1().Namespaces()
	policies := factory.Networking().V1().NetworkPolicies()
	changed := make(chan struct{}, 1)
	tell := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	for _, informer := range []cache.SharedIndexInformer{pods.Informer(), namespaces.Informer(), policies.Informer()} {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { tell() }, UpdateFunc: func(any, any) { tell() }, DeleteFunc: func(any) { tell() },
		})
		check(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)

	applied := ""
	for range changed {
		all := state{namespaces: map[string]labels.Set{}}
		listedNamespaces, err := namespaces.Lister().List(labels.Everything())
		check(err)
		for _, namespace := range listedNamespaces {
			all.namespaces[namespace.Name] = namespace.Labels
		}
		listedPods, err := pods.Lister().List(labels.Everything())
		check(err)
		for _, pod := range listedPods {
			if hasAddress(pod) {
				all.pods = append(all.pods, pod)
			}
		}
		all.policies, err = policies.Lister().List(labels.Everything())
		check(err)
		rules := buildRules(all)
		if rules == applied {
			continue
		}
		command := exec.Command("nft", "-f", "-")
		command.Stdin = strings.NewReader(rules)
		if output, err := command.CombinedOutput(); err != nil {
			log.Printf("the rules are not taken: %v: %s\n%s", err, output, rules)
			time.AfterFunc(time.Second, tell)
			continue
		}
		applied = rules
	}
}

// The network of the node itself is nobody's to restrict, and an ended pod's address may be another's already.
func hasAddress(pod *core.Pod) bool {
	return !pod.Spec.HostNetwork && pod.Status.PodIP != "" &&
		pod.Status.Phase != core.PodSucceeded && pod.Status.Phase != core.PodFailed
}

type state struct {
	pods       []*core.Pod
	namespaces map[string]labels.Set
	policies   []*networking.NetworkPolicy
}
