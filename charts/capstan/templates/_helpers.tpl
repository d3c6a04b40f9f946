{{- define "capstan.chartName" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- /* The prefix of all object names: the release, unless overridden. */}}
{{- define "capstan.name" -}}
{{- $chart := include "capstan.chartName" . -}}
{{- $name := contains $chart .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $chart) -}}
{{- .Values.fullnameOverride | default $name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "capstan.selector" -}}
app.kubernetes.io/name: {{ include "capstan.chartName" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "capstan.labels" -}}
{{ include "capstan.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- /* Labels of the pods of a role. Custom labels cannot replace the selector labels. */}}
{{- define "capstan.podLabels" -}}
{{- $own := include "capstan.selector" . | fromYaml -}}
{{- merge $own (dig "podLabels" (dict) (index .root.Values .role)) | toYaml }}
{{- end }}

{{- define "capstan.image" -}}
{{- $repository := required "image.repository: name the image that you have built from the Dockerfile of Capstan" .Values.image.repository -}}
{{- with .Values.image.digest -}}
{{ $repository }}@{{ . }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* The image of a role: dict root, role. Some roles need additional programs. */}}
{{- define "capstan.roleImage" -}}
{{- dig "image" "" (index .root.Values .role) | default (include "capstan.image" .root) }}
{{- end }}

{{- /* Delays a pod until the bundled backends answer. Otherwise its start would fail and be retried with growing delays. */}}
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

{{- /* The egress rule for DNS. On OpenShift the DNS pods listen on another port than their Service. */}}
{{- define "capstan.dnsEgress" -}}
- ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }{{ with .dnsPort }}, { protocol: UDP, port: {{ . }} }, { protocol: TCP, port: {{ . }} }{{ end }}]
  to:
    {{- toYaml .dns | nindent 4 }}
{{- end }}

{{- /* Egress rules: DNS, and the public internet without private, shared, link-local and special ranges. */}}
{{- define "capstan.publicEgress" -}}
{{ include "capstan.dnsEgress" . }}
{{- include "capstan.internetEgress" . }}
{{- end }}

{{- /* dict internet, alsoBlocked, allow */}}
{{- define "capstan.internetEgress" -}}
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
          # Azure's virtual machine agent, which serves configuration data
          - 168.63.129.16/32
          {{- range .alsoBlocked }}
          {{- if not (contains ":" .) }}
          - {{ . }}
          {{- end }}
          {{- end }}
    # Global unicast: private, link-local and translated ranges are outside of it.
    - ipBlock:
        cidr: 2000::/3
        except:
          - 2001::/32
          - 2001:db8::/32
          - 2002::/16
          {{- range .alsoBlocked }}
          {{- if contains ":" . }}
          - {{ . }}
          {{- end }}
          {{- end }}
{{- end }}
{{- with .allow }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /*
The namespace of sandboxes. An upgrade stays in the release's own while Sessions or Volumes are there, for files do not move.
Without a cluster (`helm template`) nothing can be looked up, so equal values render equal objects.
*/}}
{{- define "capstan.sandboxNamespace" -}}
{{- if .Values.sandbox.namespace }}
{{- .Values.sandbox.namespace }}
{{- else if include "capstan.holdsSandboxes" . }}
{{- .Release.Namespace }}
{{- else }}
{{- include "capstan.name" . }}-sandboxes
{{- end }}
{{- end }}

{{- /* Not empty if the release's namespace contains Sessions or Volumes. Before the first install these kinds do not exist. */}}
{{- define "capstan.holdsSandboxes" -}}
{{- range $kind := list "Volume" "Session" }}
{{- if $.Capabilities.APIVersions.Has (printf "capstan.dev/v1alpha1/%s" $kind) }}
{{- $found := lookup "capstan.dev/v1alpha1" $kind $.Release.Namespace "" }}
{{- if $found.items }}yes{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "capstan.keysSecret" -}}
{{ .Values.keys.existingSecret | default (printf "%s-keys" (include "capstan.name" .)) }}
{{- end }}

{{- /* Security settings of every container, as the restricted pod security standard requires. */}}
{{- define "capstan.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* dict root, user */}}
{{- define "capstan.podSecurity" -}}
runAsNonRoot: true
{{- if not .root.Values.security.clusterUids }}
runAsUser: {{ .user }}
runAsGroup: {{ .user }}
fsGroup: {{ .user }}
{{- end }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* Variables with the passwords of the bundled backends, as JSON. */}}
{{- define "capstan.passwordVariables" -}}
{{- dict "postgresql" "POSTGRES_PASSWORD" "nats" "NATS_PASSWORD" "redis" "REDIS_PASSWORD" "s3" "AWS_SECRET_ACCESS_KEY" | toJson }}
{{- end }}

{{- /* Variables with the addresses of backends, as JSON. */}}
{{- define "capstan.addressVariables" -}}
{{- dict "postgresql" "DATABASE_URL" "nats" "NATS_URL" "redis" "REDIS_URL" "s3" "CAPSTAN_OBJECTS" | toJson }}
{{- end }}

{{- /* The address of a bundled backend: dict root, backend, password. */}}
{{- define "capstan.bundledAddress" -}}
{{- $host := printf "%s-%s" (include "capstan.name" .root) .backend -}}
{{- if eq .backend "postgresql" }}postgres://capstan:{{ .password }}@{{ $host }}:5432/capstan
{{- else if eq .backend "nats" }}nats://capstan:{{ .password }}@{{ $host }}:4222
{{- else if eq .backend "redis" }}redis://:{{ .password }}@{{ $host }}:6379
{{- else }}s3://capstan?endpoint=http://{{ $host }}:7070&region=us-east-1&private=true
{{- end }}
{{- end }}

{{- /* The Secret with the passwords of bundled backends. */}}
{{- define "capstan.backendsSecret" -}}
{{ .Values.bundledBackends.existingSecret | default (printf "%s-backends" (include "capstan.name" .)) }}
{{- end }}

{{- /* Changes when a new address or Secret requires a restart of the pod. Passwords of the chart never change. */}}
{{- define "capstan.addressesChecksum" -}}
{{- $values := .Values -}}
{{- $addresses := dict "keys" $values.keys "providers" $values.providerKeysSecret "bundled" $values.bundledBackends -}}
{{- range $backend := list "postgresql" "nats" "redis" "s3" }}
{{- $_ := set $addresses $backend (pick (index $values $backend) "bundled" "url" "existingSecret" "credentialsSecret") }}
{{- end }}
{{- $addresses | toJson | sha256sum }}
{{- end }}

{{- /* The keys of providers, for the roles that call them: dict root, role. Video gets only those of its engines. */}}
{{- define "capstan.providerKeys" -}}
{{- $secret := .root.Values.providerKeysSecret -}}
{{- $callsModels := or (has .role (list "worker" "gateway")) (and (eq .role "login") (dig "login" "fallbackModel" "" .root.Values.config)) -}}
{{- if and $secret $callsModels }}
envFrom:
  - secretRef: { name: {{ $secret }} }
{{- end }}
{{- end }}

{{- /* One variable with a backend's address: its own Secret, or the chart's. */}}
{{- define "capstan.backendVariable" -}}
{{- $backend := index .root.Values .backend -}}
{{- if and $backend.bundled .root.Values.bundledBackends.existingSecret }}
{{- $password := get (include "capstan.passwordVariables" . | fromJson) .backend }}
{{- if ne .backend "s3" }}
- name: {{ $password }}
  valueFrom: { secretKeyRef: { name: {{ include "capstan.backendsSecret" .root }}, key: {{ $password }} } }
{{- end }}
- name: {{ .variable }}
  value: {{ include "capstan.bundledAddress" (dict "root" .root "backend" .backend "password" (printf "$(%s)" $password)) | quote }}
{{- else }}
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
{{- range $backend, $variable := include "capstan.addressVariables" . | fromJson }}
{{ include "capstan.backendVariable" (dict "root" $.root "backend" $backend "variable" $variable) | trim }}
{{- end }}
{{- $credentials := .root.Values.s3.bundled | ternary (include "capstan.backendsSecret" .root) .root.Values.s3.credentialsSecret }}
{{- if .root.Values.s3.bundled }}
- { name: AWS_ACCESS_KEY_ID, value: capstan }
{{- else if $credentials }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: { secretKeyRef: { name: {{ $credentials }}, key: AWS_ACCESS_KEY_ID } }
{{- end }}
{{- if $credentials }}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: { secretKeyRef: { name: {{ $credentials }}, key: AWS_SECRET_ACCESS_KEY } }
{{- end }}
{{- if and (eq .role "api") .root.Values.providerKeysSecret }}
{{- with dig "auth" "oidc" "clientSecretEnv" "" .root.Values.config }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.providerKeysSecret }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- if and (eq .role "video") .root.Values.providerKeysSecret }}
{{- $variables := list }}
{{- range dig "video" "engines" (dict) .root.Values.config }}
{{- with dig "apiKeyEnv" "" . }}{{ $variables = append $variables . }}{{ end }}
{{- end }}
{{- range $variables | uniq }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $.root.Values.providerKeysSecret }}, key: {{ . }} } }
{{- end }}
{{- end }}
{{- if has .role (list "api" "worker") }}
- { name: CAPSTAN_SANDBOX, value: kubernetes }
- { name: CAPSTAN_KUBERNETES_NAMESPACE, value: {{ include "capstan.sandboxNamespace" .root | quote }} }
{{- with .root.Values.sandbox.defaultClass }}
- { name: CAPSTAN_SANDBOX_CLASS, value: {{ . | quote }} }
{{- end }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
- { name: {{ $name }}, value: {{ $value | toString | quote }} }
{{- end }}
{{- end }}
