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

{{- /* Of a role: dict root, role. Some need programs that the others do not. */}}
{{- define "capstan.roleImage" -}}
{{- dig "image" "" (index .root.Values .role) | default (include "capstan.image" .root) }}
{{- end }}

{{- /* Holds a pod back until the bundled backends answer, for its start would fail, and be tried again ever more slowly. */}}
{{- define "capstan.waiting" -}}
{{- $places := list }}
{{- range $backend, $port := dict "postgresql" 5432 "nats" 4222 "redis" 6379 "s3" 7070 }}
{{- if (index $.Values $backend).bundled }}
{{- $places = append $places (printf "%s-%s:%d" (include "capstan.name" $) $backend $port) }}
{{- end }}
{{- end }}
{{- if $places }}
initContainers:
  - name: wait-for-backends
    image: {{ include "capstan.image" . }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [node, -e]
    args:
      - {{ .Files.Get "files/wait-for-backends.js" | toJson }}
      {{- range $places }}
      - {{ . }}
      {{- end }}
    resources: { requests: { cpu: 10m, memory: 64Mi }, limits: { memory: 128Mi } }
    securityContext:
      {{- include "capstan.containerSecurity" . | nindent 6 }}
{{- end }}
{{- end }}

{{- /* Rules of egress: DNS, and the public internet without private, shared, link-local and special ranges. */}}
{{- define "capstan.publicEgress" -}}
- ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
  to:
    {{- toYaml .dns | nindent 4 }}
{{- if .internet }}
- to:
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          - 0.0.0.0/8
          - 10.0.0.0/8
          - 100.64.0.0/10
          - 127.0.0.0/8
          # cloud metadata
          - 169.254.0.0/16
          - 172.16.0.0/12
          - 192.0.0.0/24
          - 192.0.2.0/24
          - 192.168.0.0/16
          - 198.18.0.0/15
          - 198.51.100.0/24
          - 203.0.113.0/24
          - 224.0.0.0/4
          - 240.0.0.0/4
          # Azure's agent of virtual machines, which hands out what machines are set up with
          - 168.63.129.16/32
          {{- range .alsoBlocked }}
          - {{ . }}
          {{- end }}
    # Global unicast: private, link-local and translated ranges are outside of it.
    - ipBlock:
        cidr: 2000::/3
        except: ['2001::/32', '2001:db8::/32', '2002::/16']
{{- end }}
{{- with .allow }}
{{ toYaml . }}
{{- end }}
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
{{- if has .role (list "api" "worker") }}
- { name: CAPSTAN_SANDBOX, value: kubernetes }
- { name: CAPSTAN_KUBERNETES_NAMESPACE, value: {{ include "capstan.sandboxNamespace" .root | quote }} }
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
