package main

import (
	"fmt"
	"sort"
	"strings"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const table = "inet capstan_policies"

// buildRules has a chain for each pod and direction that some policy is about: what a rule allows returns from it, the
// rest is dropped. A packet passes both the chain of its sender and the chain of its receiver. They see addresses as
// they are after the translation of Services.
func buildRules(all state) string {
	var chains, from, to strings.Builder
	pods := append([]*core.Pod{}, all.pods...)
	sort.Slice(pods, func(i, j int) bool { return pods[i].Status.PodIP < pods[j].Status.PodIP })
	for _, pod := range pods {
		for _, direction := range []networking.PolicyType{networking.PolicyTypeEgress, networking.PolicyTypeIngress} {
			allowed, isolated := all.listAllowed(pod, direction)
			if !isolated {
				continue
			}
			name := fmt.Sprintf("%s_%s", strings.ToLower(string(direction)), strings.ReplaceAll(pod.Status.PodIP, ".", "_"))
			fmt.Fprintf(&chains, "  chain %s {\n", name)
			for _, match := range allowed {
				fmt.Fprintf(&chains, "    %s return\n", match)
			}
			chains.WriteString("    counter drop\n  }\n")
			side, rules := "saddr", &from
			if direction == networking.PolicyTypeIngress {
				side, rules = "daddr", &to
			}
			fmt.Fprintf(rules, "    ip %s %s jump %s\n", side, pod.Status.PodIP, name)
		}
	}
	return fmt.Sprintf(`table %[1]s
delete table %[1]s
table %[1]s {
%[2]s  chain forward {
    type filter hook forward priority filter
    ct state established,related accept
%[3]s%[4]s  }
  chain input {
    type filter hook input priority filter
    ct state established,related accept
%[3]s  }
}
`, table, chains.String(), from.String(), to.String())
}

// listAllowed gives what the policies about a pod allow in a direction, as matches of nftables. With no policy about it
// the pod is not isolated.
func (all state) listAllowed(pod *core.Pod, direction networking.PolicyType) (matches []string, isolated bool) {
	seen := map[string]bool{}
	for _, policy := range all.policies {
		if policy.Namespace != pod.Namespace || !selects(&policy.Spec.PodSelector, pod.Labels) || !isAbout(policy, direction) {
			continue
		}
		isolated = true
		if direction == networking.PolicyTypeIngress {
			for _, rule := range policy.Spec.Ingress {
				add(seen, all.match("saddr", policy.Namespace, rule.From, rule.Ports, pod))
			}
			continue
		}
		for _, rule := range policy.Spec.Egress {
			add(seen, all.match("daddr", policy.Namespace, rule.To, rule.Ports, nil))
		}
	}
	for match := range seen {
		matches = append(matches, match)
	}
	sort.Strings(matches)
	return matches, isolated
}

func add(seen map[string]bool, matches []string) {
	for _, match := range matches {
		seen[match] = true
	}
}

func isAbout(policy *networking.NetworkPolicy, direction networking.PolicyType) bool {
	for _, given := range policy.Spec.PolicyTypes {
		if given == direction {
			return true
		}
	}
	return false
}

func selects(selector *meta.LabelSelector, set labels.Set) bool {
	parsed, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && parsed.Matches(set)
}

// match gives the peers of a rule times its ports. The receiver knows what a named port means: the pod itself for what
// comes in, each peer for what goes out.
func (all state) match(side, namespace string, peers []networking.NetworkPolicyPeer, ports []networking.NetworkPolicyPort, receiver *core.Pod) []string {
	var matches []string
	if len(peers) == 0 {
		return matchPorts("", ports, receiver)
	}
	for _, peer := range peers {
		if block := peer.IPBlock; block != nil {
			if strings.Contains(block.CIDR, ":") {
				continue
			}
			match := fmt.Sprintf("ip %s %s", side, block.CIDR)
			if len(block.Except) > 0 {
				match += fmt.Sprintf(" ip %s != { %s }", side, strings.Join(block.Except, ", "))
			}
			matches = append(matches, matchPorts(match, ports, receiver)...)
			continue
		}
		for _, pod := range all.pods {
			if peer.NamespaceSelector == nil && pod.Namespace != namespace {
				continue
			}
			if peer.NamespaceSelector != nil && !selects(peer.NamespaceSelector, all.namespaces[pod.Namespace]) {
				continue
			}
			if peer.PodSelector != nil && !selects(peer.PodSelector, pod.Labels) {
				continue
			}
			named := receiver
			if named == nil {
				named = pod
			}
			matches = append(matches, matchPorts(fmt.Sprintf("ip %s %s", side, pod.Status.PodIP), ports, named)...)
		}
	}
	return matches
}

func matchPorts(peer string, ports []networking.NetworkPolicyPort, receiver *core.Pod) []string {
	if len(ports) == 0 {
		return []string{peer}
	}
	var matches []string
	for _, port := range ports {
		protocol := core.ProtocolTCP
		if port.Protocol != nil {
			protocol = *port.Protocol
		}
		prefix := strings.TrimSpace(peer + " " + strings.ToLower(string(protocol)))
		switch {
		case port.Port == nil:
			matches = append(matches, strings.TrimSpace(peer+" meta l4proto "+strings.ToLower(string(protocol))))
		case port.Port.Type == intstr.String:
			for _, number := range listNamed(receiver, port.Port.StrVal, protocol) {
				matches = append(matches, fmt.Sprintf("%s dport %d", prefix, number))
			}
		case port.EndPort != nil:
			matches = append(matches, fmt.Sprintf("%s dport %d-%d", prefix, port.Port.IntVal, *port.EndPort))
		default:
			matches = append(matches, fmt.Sprintf("%s dport %d", prefix, port.Port.IntVal))
		}
	}
	return matches
}

func listNamed(pod *core.Pod, name string, protocol core.Protocol) []int32 {
	var numbers []int32
	if pod == nil {
		return numbers
	}
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == name && (port.Protocol == protocol || (port.Protocol == "" && protocol == core.ProtocolTCP)) {
				numbers = append(numbers, port.ContainerPort)
			}
		}
	}
	return numbers
}
