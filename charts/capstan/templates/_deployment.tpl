{{- /*
The Deployment of a role: dict root, role, token (it speaks to the API server), environment, memoryFolders (writable, in
memory, counted to the pod's limit).
*/}}
{{- define "capstan.deployment" -}}
{{- $values := index .root.Values .role -}}
{{- $usesBackends := ne .role "operator" -}}
{{- $probed := ternary "metrics" "http" $usesBackends -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "capstan.name" .root }}-{{ .role }}
  labels:
    {{- include "capstan.labels" . | nindent 4 }}
spec:
  {{- if not (dig "autoscaling" "enabled" false $values) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  # A new pod becomes ready before an old one ends.
  strategy: { type: RollingUpdate, rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
  selector:
    matchLabels:
      {{- include "capstan.selector" . | nindent 6 }}
  template:
    metadata:
      labels:
        # Without the chart's version, so that a new chart restarts only the pods that it changes.
        {{- include "capstan.podLabels" . | nindent 8 }}
      {{- if or $usesBackends $values.podAnnotations }}
      annotations:
        {{- if $usesBackends }}
        capstan.dev/config: {{ .root.Values.config | toJson | sha256sum }}
        capstan.dev/addresses: {{ include "capstan.addressesChecksum" .root }}
        {{- end }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "capstan.name" .root }}-{{ .role }}
      automountServiceAccountToken: {{ .token }}
      # They would set variables (CAPSTAN_API_SERVICE_HOST…) that are not settings and would be rejected.
      enableServiceLinks: false
      # Time for active requests and open streams to end.
      terminationGracePeriodSeconds: 45
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      {{- with $values.nodeSelector }}
      nodeSelector: {{ toJson . }}
      {{- end }}
      {{- with $values.tolerations }}
      tolerations: {{ toJson . }}
      {{- end }}
      {{- with $values.affinity }}
      affinity: {{ toJson . }}
      {{- end }}
      securityContext:
        {{- include "capstan.podSecurity" (dict "root" .root "user" 1000) | nindent 8 }}
      topologySpreadConstraints:
        {{- with $values.topologySpreadConstraints }}
        {{- toYaml . | nindent 8 }}
        {{- else }}
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector:
            matchLabels:
              {{- include "capstan.selector" . | nindent 14 }}
        {{- end }}
      {{- with dig "runtimeClass" "" $values }}
      runtimeClassName: {{ . }}
      {{- end }}
      {{- if $usesBackends }}
      {{- include "capstan.waiting" .root | nindent 6 }}
      {{- end }}
      containers:
        - name: {{ .role }}
          image: {{ include "capstan.roleImage" . }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          args: [{{ .role }}]
          env:
            - { name: CAPSTAN_HOST, value: {{ .root.Values.listenHost | quote }} }
            - { name: CAPSTAN_PORT, value: "8080" }
            {{- if $usesBackends }}
            - { name: CAPSTAN_METRICS_PORT, value: "9090" }
            {{- end }}
            - { name: CAPSTAN_DATA_DIR, value: /tmp/capstan }
            {{- with include "capstan.publicUrl" . | trim }}
            - { name: CAPSTAN_PUBLIC_URL, value: {{ . | quote }} }
            {{- end }}
            {{- .environment | nindent 12 }}
            {{- with dig "nodeOptions" "" $values }}
            - { name: NODE_OPTIONS, value: {{ . | quote }} }
            {{- end }}
          {{- with include "capstan.providerKeys" . | trim }}
          {{- . | nindent 10 }}
          {{- end }}
          ports:
            - { name: http, containerPort: 8080 }
            {{- if $usesBackends }}
            # Not in any Service: callers must not see metrics and the state of backends.
            - { name: metrics, containerPort: 9090 }
            {{- end }}
            {{- if eq .role "login" }}
            {{- with include "capstan.smtpPort" .root }}
            - { name: smtp, containerPort: {{ . }} }
            {{- end }}
            {{- end }}
          # Migrations run at the start, under a lock, in the first of several pods.
          startupProbe: { httpGet: { path: /livez, port: {{ $probed }} }, periodSeconds: 2, failureThreshold: 90 }
          livenessProbe: { httpGet: { path: /livez, port: {{ $probed }} }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 }
          readinessProbe: { httpGet: { path: /readyz, port: {{ $probed }} }, periodSeconds: 5, timeoutSeconds: 5 }
          # Time for load balancers to notice the end.
          lifecycle: { preStop: { exec: { command: [sleep, "5"] } } }
          resources: {{ toJson $values.resources }}
          securityContext:
            {{- include "capstan.containerSecurity" . | nindent 12 }}
          volumeMounts:
            - { name: tmp, mountPath: /tmp }
            {{- range $index, $folder := .memoryFolders }}
            - { name: memory-{{ $index }}, mountPath: {{ $folder }} }
            {{- end }}
            {{- if $usesBackends }}
            - { name: config, mountPath: /etc/capstan, readOnly: true }
            {{- end }}
      volumes:
        - { name: tmp, emptyDir: { sizeLimit: {{ dig "scratch" "2Gi" $values }} } }
        {{- range $index, $folder := .memoryFolders }}
        - { name: memory-{{ $index }}, emptyDir: { medium: Memory } }
        {{- end }}
        {{- if $usesBackends }}
        - { name: config, configMap: { name: {{ include "capstan.name" .root }}-config } }
        {{- end }}
{{- end }}
