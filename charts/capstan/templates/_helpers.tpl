{{- define "capstan.name" -}}
{{- if contains "capstan" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-capstan" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "capstan.selector" -}}
app.kubernetes.io/name: capstan
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "capstan.labels" -}}
{{ include "capstan.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "capstan.image" -}}
{{- $repository := required "image.repository: name the image that you have built from the Dockerfile of Capstan" .Values.image.repository -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "capstan.sandboxNamespace" -}}
{{ .Values.sandbox.namespace | default .Release.Namespace }}
{{- end }}

{{- define "capstan.keysSecret" -}}
{{ .Values.keys.existingSecret | default (printf "%s-keys" (include "capstan.name" .)) }}
{{- end }}

{{- /* What every container here has in common, as the restricted pod security standard asks. */}}
{{- define "capstan.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "capstan.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* One variable with a backend's address: its own Secret, or the chart's. */}}
{{- define "capstan.backendVariable" -}}
{{- $backend := index .root.Values .backend -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef:
      {{- if and (not $backend.bundled) $backend.existingSecret.name }}
      name: {{ $backend.existingSecret.name }}
      key: {{ $backend.existingSecret.key }}
      {{- else }}
      name: {{ include "capstan.name" .root }}-backends
      key: {{ .variable }}
      {{- end }}
{{- end }}

{{- /* The environment of the roles that use the backends. */}}
{{- define "capstan.environment" -}}
- { name: CAPSTAN_CONFIG, value: /etc/capstan/capstan.yaml }
- name: CAPSTAN_MASTER_KEY
  valueFrom: { secretKeyRef: { name: {{ include "capstan.keysSecret" .root }}, key: CAPSTAN_MASTER_KEY } }
{{- if ne .role "worker" }}
- name: CAPSTAN_API_KEY
  valueFrom: { secretKeyRef: { name: {{ include "capstan.keysSecret" .root }}, key: CAPSTAN_API_KEY } }
{{- end }}
{{ include "capstan.backendVariable" (dict "root" .root "backend" "postgresql" "variable" "DATABASE_URL") }}
{{ include "capstan.backendVariable" (dict "root" .root "backend" "nats" "variable" "NATS_URL") }}
{{ include "capstan.backendVariable" (dict "root" .root "backend" "redis" "variable" "REDIS_URL") }}
{{ include "capstan.backendVariable" (dict "root" .root "backend" "s3" "variable" "CAPSTAN_OBJECTS") }}
{{- $credentials := .root.Values.s3.bundled | ternary (printf "%s-backends" (include "capstan.name" .root)) .root.Values.s3.credentialsSecret }}
{{- if $credentials }}
{{- range list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY" }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $credentials }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- if ne .role "gateway" }}
- { name: CAPSTAN_SANDBOX, value: kubernetes }
- { name: CAPSTAN_KUBERNETES_NAMESPACE, value: {{ include "capstan.sandboxNamespace" .root | quote }} }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
