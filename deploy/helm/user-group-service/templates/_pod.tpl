{{/* The pod of the service. */}}
{{- define "ugs.pod" -}}
metadata:
  labels: {{ include "ugs.labels" (dict "root" . "component" "service") | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    # Restarts the pods when the Secret changes.
    checksum/secret: {{ include (print $.Template.BasePath "/secret.yaml") . | sha256sum }}
    {{- if include "ugs.configurationFiles" . }}
    checksum/configuration: {{ .Values.configuration | toJson | sha256sum }}
    {{- end }}
spec: {{ include "ugs.podSpec" . | nindent 2 }}
  serviceAccountName: {{ include "ugs.name" . }}
  # No preStop hook: the service serves requests for UGS_DRAIN_MS after SIGTERM.
  terminationGracePeriodSeconds: {{ add .Values.stop.drain .Values.stop.finish 5 }}
  {{- with .Values.affinity }}
  affinity: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- $labels := merge (dict "app.kubernetes.io/component" "service") (include "ugs.selector" . | fromYaml) }}
  {{- $selector := dict "labelSelector" (dict "matchLabels" $labels) }}
  {{- with .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- range . }}
    - {{ ternary . (merge (dict) . $selector) (hasKey . "labelSelector") | toYaml | nindent 6 | trim }}
    {{- end }}
  {{- end }}
  containers:
    - name: service
      {{- include "ugs.container" . | nindent 6 }}
      env:
        {{- include "ugs.env" . | nindent 8 }}
        - name: UGS_MIGRATE
          value: {{ ternary "check" "auto" (eq (include "ugs.hasMigration" .) "true") }}
        - name: UGS_DRAIN_MS
          value: {{ mul .Values.stop.drain 1000 | quote }}
        - name: UGS_CLOSE_TIMEOUT_MS
          value: {{ mul .Values.stop.finish 1000 | quote }}
        {{- if .Values.metrics.enabled }}
        - name: UGS_METRICS_HOST
          value: 0.0.0.0
        - name: UGS_METRICS_PORT
          value: {{ .Values.metrics.port | quote }}
        {{- end }}
        {{- with include "ugs.configurationFiles" . }}
        - name: UGS_CONFIG_FILE
          value: {{ . }}
        {{- end }}
        {{- $tokens := concat (.Values.configuration.customer.api_tokens | default list) (.Values.configuration.testing.api_tokens | default list) }}
        {{- $names := list }}
        {{- range $tokens }}{{ with .token_env }}{{ $names = append $names . }}{{ end }}{{ end }}
        {{- range $names | uniq }}
        - name: {{ . }}
          valueFrom:
            secretKeyRef:
              name: {{ required "configuration.tokens: name a Secret with the API tokens of token_env" $.Values.configuration.tokens }}
              key: {{ . }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
        {{- if .Values.metrics.enabled }}
        - name: metrics
          containerPort: {{ .Values.metrics.port }}
        {{- end }}
      startupProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 1
        failureThreshold: 60
      livenessProbe:
        httpGet:
          path: /healthz
          port: http
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 3
      # Fails during a database outage, for all pods at once. The threshold is high because requests survive a short outage.
      readinessProbe:
        httpGet:
          path: /readyz
          port: http
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 3
{{- end }}
