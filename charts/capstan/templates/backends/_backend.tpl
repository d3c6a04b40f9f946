{{- /*
A bundled backend: dict root, name, port, user, path (where its disk is), environment, args, folders (scratch on
the node's disk), probe. For evaluation: one pod, and one disk that `helm uninstall` leaves behind.
*/}}
{{- define "capstan.backend" -}}
{{- $values := index .root.Values .name -}}
{{- $full := printf "%s-%s" (include "capstan.name" .root) .name -}}
{{- $role := dict "root" .root "role" .name -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $full }}
  labels:
    {{- include "capstan.labels" $role | nindent 4 }}
spec:
  selector:
    {{- include "capstan.selector" $role | nindent 4 }}
  ports:
    - { name: {{ .name }}, port: {{ .port }}, targetPort: {{ .port }} }
---
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ $full }}
  labels:
    {{- include "capstan.labels" $role | nindent 4 }}
spec:
  replicas: 1
  serviceName: {{ $full }}
  selector:
    matchLabels:
      {{- include "capstan.selector" $role | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "capstan.selector" $role | nindent 8 }}
    spec:
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- range . }}
        - name: {{ . }}
        {{- end }}
      {{- end }}
      securityContext:
        {{- include "capstan.podSecurity" . | nindent 8 }}
      containers:
        - name: {{ .name }}
          image: {{ $values.image }}
          {{- with .args }}
          args: {{ toJson . }}
          {{- end }}
          env:
            {{- range $variable, $value := .environment }}
            - { name: {{ $variable }}, value: {{ $value | quote }} }
            {{- end }}
            {{- range $variable, $key := .secrets }}
            - name: {{ $variable }}
              valueFrom: { secretKeyRef: { name: {{ include "capstan.backendsSecret" $.root }}, key: {{ $key }} } }
            {{- end }}
          ports:
            - { name: {{ .name }}, containerPort: {{ .port }} }
          readinessProbe: {{ toJson .probe }}
          livenessProbe: { tcpSocket: { port: {{ .port }} }, initialDelaySeconds: 30, periodSeconds: 20, failureThreshold: 6 }
          resources: {{ toJson $values.resources }}
          securityContext:
            {{- include "capstan.containerSecurity" . | nindent 12 }}
          volumeMounts:
            {{- with .path }}
            - { name: data, mountPath: {{ . }} }
            {{- end }}
            {{- range $index, $folder := .folders }}
            - { name: folder-{{ $index }}, mountPath: {{ $folder }} }
            {{- end }}
      volumes:
        {{- range $index, $folder := .folders }}
        - { name: folder-{{ $index }}, emptyDir: {} }
        {{- else }}
        []
        {{- end }}
  {{- if .path }}
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        {{- with $values.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources: { requests: { storage: {{ $values.storage }} } }
  {{- end }}
{{- if .root.Values.networkPolicies.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ $full }}
  labels:
    {{- include "capstan.labels" $role | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "capstan.selector" $role | nindent 6 }}
  policyTypes: [Ingress, Egress]
  ingress:
    - ports: [{ protocol: TCP, port: {{ .port }} }]
      from:
        - podSelector:
            matchLabels:
              app.kubernetes.io/name: {{ include "capstan.chartName" .root }}
              app.kubernetes.io/instance: {{ .root.Release.Name }}
            matchExpressions:
              - { key: app.kubernetes.io/component, operator: In, values: [api, worker, gateway, video, login] }
  egress: []
{{- end }}
{{- end }}
