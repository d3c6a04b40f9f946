{{- /* Egress rules of the roles: everything else is denied. */}}

{{- /* A rule for these peers, or any address, on these ports: dict ports, to, protocols. */}}
{{- define "capstan.destination" -}}
{{- $ports := list -}}
{{- range $port := .ports | uniq }}
{{- range $protocol := $.protocols | default (list "TCP") }}
{{- $ports = append $ports (dict "protocol" $protocol "port" $port) }}
{{- end }}
{{- end -}}
- ports: {{ toJson $ports }}
{{- with .to }}
  to:
    {{- toYaml . | nindent 4 }}
{{- end }}
{{- end }}

{{- /* The ports in the address of a backend, as JSON; handles several hosts, and the endpoint of an S3 store. */}}
{{- define "capstan.portsOf" -}}
{{- $ports := list -}}
{{- $url := . | replace "%3A" ":" | replace "%2F" "/" -}}
{{- range regexFindAll ":[0-9]{1,5}([/,?&]|$)" $url -1 }}
{{- $ports = append $ports (regexFind "[0-9]+" . | int) }}
{{- end }}
{{- if regexMatch "endpoint=http://[^:/&]+([/&]|$)" $url }}{{ $ports = append $ports 80 }}{{ end }}
{{- toJson $ports }}
{{- end }}

{{- define "capstan.rolesDns" -}}
{{- $dns := .Values.networkPolicies.egress.dns -}}
{{ include "capstan.destination" (dict "ports" $dns.ports "to" $dns.to "protocols" (list "UDP" "TCP")) }}
{{- end }}

{{- /* The backends, bundled or not: dict root, role. Where a browser runs, none of your own is at any address. */}}
{{- define "capstan.backendEgress" -}}
{{- $root := .root -}}
{{- $bundled := list }}
{{- $ports := list }}
{{- range $backend, $port := dict "postgresql" 5432 "nats" 4222 "redis" 6379 "s3" 7070 }}
{{- $values := index $root.Values $backend }}
{{- $own := index $root.Values.networkPolicies.egress $backend }}
{{- if $values.bundled }}
{{- $bundled = append $bundled $backend }}
{{- $ports = append $ports $port }}
{{- else if or $own.to (ne $.role "login") }}
{{ include "capstan.destination" (dict "ports" (concat $own.ports (include "capstan.portsOf" $values.url | fromJsonArray)) "to" $own.to) }}
{{- end }}
{{- end }}
{{- if $bundled }}
{{- $labels := dict "app.kubernetes.io/name" (include "capstan.chartName" $root) "app.kubernetes.io/instance" $root.Release.Name }}
{{- $components := list (dict "key" "app.kubernetes.io/component" "operator" "In" "values" $bundled) }}
{{- $pods := dict "podSelector" (dict "matchLabels" $labels "matchExpressions" $components) }}
{{ include "capstan.destination" (dict "ports" $ports "to" (list $pods)) }}
{{- end }}
{{- end }}

{{- /* The API server of Kubernetes, and the executors in sandbox pods. */}}
{{- define "capstan.sandboxEgress" -}}
{{ include "capstan.destination" .Values.networkPolicies.egress.kubernetes }}
- ports: [{ protocol: TCP, port: 8090 }]
  to:
    - namespaceSelector:
        matchLabels: { kubernetes.io/metadata.name: {{ include "capstan.sandboxNamespace" . }} }
      podSelector:
        matchLabels: { app.kubernetes.io/managed-by: capstan-operator, app.kubernetes.io/component: sandbox }
{{- end }}

{{- /* All egress rules of a role: dict root, role. */}}
{{- define "capstan.roleEgress" -}}
{{- if eq .role "login" }}
{{- include "capstan.publicEgress" .root.Values.login.network }}
{{- else }}
{{- include "capstan.rolesDns" .root }}
{{- end }}
{{- if ne .role "operator" }}
{{- include "capstan.backendEgress" . }}
{{- end }}
{{- if has .role (list "api" "worker" "operator") }}
{{ include "capstan.sandboxEgress" .root }}
{{- end }}
{{- if not (has .role (list "login" "operator")) }}
{{- include "capstan.internetEgress" .root.Values.networkPolicies.egress }}
{{- end }}
{{- end }}
