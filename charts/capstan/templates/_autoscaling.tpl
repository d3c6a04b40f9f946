{{- /* The autoscaler of a role: dict root, role. KEDA creates its own HorizontalPodAutoscaler. */}}
{{- define "capstan.autoscaler" -}}
{{- $name := printf "%s-%s" (include "capstan.name" .root) .role -}}
{{- $scaling := (index .root.Values .role).autoscaling -}}
{{- $keda := dig "keda" "enabled" false $scaling -}}
{{- $sessions := dig "targetSessions" 0 $scaling | int -}}
---
{{- if $keda }}
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: {{ $name }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { name: {{ $name }} }
  minReplicaCount: {{ $scaling.minReplicas }}
  maxReplicaCount: {{ $scaling.maxReplicas }}
  advanced:
    horizontalPodAutoscalerConfig:
      behavior: {{ toJson $scaling.behavior }}
  triggers:
    - type: cpu
      metricType: Utilization
      metadata: { value: {{ $scaling.targetCPUUtilizationPercentage | quote }} }
    {{- if $sessions }}
    - type: prometheus
      metadata:
        serverAddress: {{ required (printf "%s.autoscaling.keda.serverAddress: name the address of Prometheus" .role) $scaling.keda.serverAddress | quote }}
        # Running sessions, and sessions that wait for a worker.
        query: sum(capstan_worker_sessions{namespace="{{ .root.Release.Namespace }}"}) + max(capstan_backlog_sessions{namespace="{{ .root.Release.Namespace }}"})
        threshold: {{ $sessions | quote }}
    {{- end }}
{{- else }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  behavior: {{ toJson $scaling.behavior }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ $scaling.targetCPUUtilizationPercentage }} }
    {{- if $sessions }}
    - type: Pods
      pods:
        metric: { name: capstan_worker_sessions }
        target: { type: AverageValue, averageValue: {{ $sessions | quote }} }
    {{- end }}
    {{- with $scaling.metrics }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end }}

{{- /* A route of the Gateway API: dict root, role. */}}
{{- define "capstan.httpRoute" -}}
{{- $route := dig "httpRoute" (dict) (index .root.Values .role) -}}
{{- if $route.enabled }}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
  {{- with $route.annotations }}
  annotations: {{ toJson . }}
  {{- end }}
spec:
  {{- if not $route.parentRefs }}
  {{- fail (printf "%s.httpRoute.parentRefs: name the Gateway" .role) }}
  {{- end }}
  parentRefs: {{ toJson $route.parentRefs }}
  {{- with $route.hostnames }}
  hostnames: {{ toJson . }}
  {{- end }}
  rules:
    - matches: [{ path: { type: PathPrefix, value: / } }]
      # Event streams stay open.
      timeouts: { request: 0s }
      backendRefs: [{ name: {{ include "capstan.name" .root }}-{{ .role }}, port: {{ dig "service" "port" 8080 (index .root.Values .role) }} }]
{{- end }}
{{- end }}
