{{- /* The objects of a role besides its Deployment: account, budget, autoscaler, service, ingress, monitor. */}}
{{- define "capstan.account" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
  {{- with dig "serviceAccount" "annotations" (dict) (index .root.Values .role) }}
  annotations: {{ toJson . }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}

{{- define "capstan.scaling" -}}
{{- $values := index .root.Values .role -}}
{{- if .root.Values.disruptionBudgets.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "capstan.selector" . | nindent 6 }}
{{- end }}
{{- if dig "autoscaling" "enabled" false $values }}
{{ include "capstan.autoscaler" . }}
{{- end }}
{{- end }}

{{- /* The public address of the role, if known: other Host headers are ignored. */}}
{{- define "capstan.publicUrl" -}}
{{- $values := index .root.Values .role -}}
{{- $scheme := ternary "https" "http" (ne (dig "ingress" "tlsSecret" "" $values) "") -}}
{{- if dig "publicUrl" "" $values }}
{{- $values.publicUrl }}
{{- else if and (dig "ingress" "enabled" false $values) (not (hasKey .root.Values.settings "CAPSTAN_PUBLIC_URL")) }}
{{- printf "%s://%s" $scheme $values.ingress.host }}
{{- end }}
{{- end }}

{{- /* Where login receives emails; empty without config.login.smtp. */}}
{{- define "capstan.smtpPort" -}}
{{- with dig "login" "smtp" "port" 0 .Values.config }}{{ int . }}{{ end }}
{{- end }}

{{- define "capstan.service" -}}
{{- $values := index .root.Values .role -}}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
spec:
  type: {{ dig "service" "type" "ClusterIP" $values }}
  selector:
    {{- include "capstan.selector" . | nindent 4 }}
  ports:
    - { name: http, port: {{ dig "service" "port" 8080 $values }}, targetPort: http{{ with dig "service" "nodePort" 0 $values }}, nodePort: {{ . }}{{ end }} }
{{- if .root.Values.serviceMonitor.enabled }}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
    {{- with .root.Values.serviceMonitor.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "capstan.selector" . | nindent 6 }}
  endpoints:
    - { targetPort: {{ ternary "http" "metrics" (eq .role "operator") }}, path: /metrics, interval: {{ .root.Values.serviceMonitor.interval }} }
{{- end }}
{{- if dig "ingress" "enabled" false $values }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
  {{- with $values.ingress.annotations }}
  annotations: {{ toJson . }}
  {{- end }}
spec:
  {{- with $values.ingress.className }}
  ingressClassName: {{ . }}
  {{- end }}
  {{- if $values.ingress.tlsSecret }}
  tls:
    - { hosts: [{{ $values.ingress.host | quote }}], secretName: {{ $values.ingress.tlsSecret }} }
  {{- end }}
  rules:
    - host: {{ required (printf "%s.ingress.host: name the host that it is reached by" .role) $values.ingress.host | quote }}
      http:
        paths:
          - path: /
            pathType: Prefix
            backend: { service: { name: {{ include "capstan.name" .root }}-{{ .role }}, port: { name: http } } }
{{- end }}
{{ include "capstan.httpRoute" . }}
{{- end }}

{{- /* Rights of api and worker in the namespace of the sandboxes: they write resources for the operator, and no pods. */}}
{{- define "capstan.controlPlaneRights" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  namespace: {{ include "capstan.sandboxNamespace" .root }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
rules:
  - apiGroups: [capstan.dev]
    resources: [sessions, volumes]
    verbs: [get, list, watch, create, patch, delete]
{{ include "capstan.binding" . }}
{{- end }}

{{- define "capstan.binding" -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  namespace: {{ include "capstan.sandboxNamespace" .root }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: {{ include "capstan.name" .root }}-{{ .role }} }
subjects:
  - { kind: ServiceAccount, name: {{ include "capstan.name" .root }}-{{ .role }}, namespace: {{ .root.Release.Namespace }} }
{{- end }}
