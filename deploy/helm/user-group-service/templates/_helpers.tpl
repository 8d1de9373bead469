{{/* By default the name of the release, because one release is one service. */}}
{{- define "ugs.name" -}}
{{ .Values.nameOverride | default .Release.Name | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "ugs.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Call with a dict of `root` and `component`. */}}
{{- define "ugs.labels" -}}
{{ include "ugs.selector" .root }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{/* The store and the secret keys, for every container. */}}
{{- define "ugs.env" -}}
{{- if .Values.certificateAuthority.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/user-group-service/ca/ca.crt
{{- end }}
{{- if .Values.secret.keysFile }}
- name: UGS_SECRET_KEYS_FILE
  value: /etc/user-group-service/keys/secret-keys
{{- end }}
{{- if .Values.sqlite.enabled }}
- name: DATABASE_URL
  value: sqlite:/data/ugs.db
{{- end }}
{{- end }}

{{/* The value of UGS_CONFIG_FILE. Empty without a document. */}}
{{- define "ugs.configurationFiles" -}}
{{- $files := list }}
{{- range $environment := list "Customer" "Testing" }}
{{- if get $.Values.configuration (lower $environment) }}
{{- $files = append $files (printf "%s=/etc/user-group-service/configuration/%s.json" $environment (lower $environment)) }}
{{- end }}
{{- end }}
{{- join "," $files }}
{{- end }}

{{- define "ugs.hasMigration" -}}
{{ and .Values.migration.enabled (not .Values.sqlite.enabled) }}
{{- end }}

{{/* False if all that a Secret would contain comes from elsewhere. */}}
{{- define "ugs.needsSecret" -}}
{{ not (and .Values.sqlite.enabled .Values.secret.keysFile) }}
{{- end }}

{{/* A volume of one node. Call with `size` and `storageClass`. */}}
{{- define "ugs.claim" -}}
accessModes: [ReadWriteOnce]
{{- with .storageClass }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .size }}
{{- end }}

{{- define "ugs.secretName" -}}
{{ .Values.secret.existing | default (include "ugs.name" .) }}
{{- end }}

{{- define "ugs.image" -}}
{{ required "image.repository: set the name of the image built from deploy/Dockerfile" .Values.image.repository }}
{{- with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* Ports for what the settings enable, separated by spaces. */}}
{{- define "ugs.egressPorts" -}}
{{- $settings := .Values.settings }}
{{- $http := eq (get $settings "UGS_WEBHOOK_HTTP") "on" }}
{{- $private := eq (get $settings "UGS_WEBHOOK_PRIVATE_ADDRESSES") "on" }}
{{- $limit := get $settings "UGS_MAX_WEBHOOK_ENDPOINTS" | default "0" }}
{{- if or .Values.networkPolicy.webhooks $http $private (ne $limit "0") }} 443{{ end }}
{{- if $http }} 80{{ end }}
{{- if eq (get $settings "UGS_TRACES") "on" }}
{{- $common := get $settings "OTEL_EXPORTER_OTLP_ENDPOINT" | default "http://localhost:4318" }}
{{- $collector := urlParse (get $settings "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT" | default $common) }}
{{- $port := regexFind ":[0-9]+$" $collector.host | trimPrefix ":" }} {{ $port | default (ternary "443" "80" (eq $collector.scheme "https")) }}
{{- end }}
{{- end }}

{{/* Pod settings that the service and the migration share. */}}
{{- define "ugs.podSpec" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.podSecurityContext }}
securityContext: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: temporary
    emptyDir:
      sizeLimit: {{ .Values.temporaryStorage }}
  {{- with .Values.certificateAuthority.configMap }}
  - name: ca
    configMap:
      name: {{ . }}
  {{- end }}
  {{- with .Values.secret.keysFile }}
  - name: keys
    secret:
      secretName: {{ . }}
      # Readable by the group of the pod.
      defaultMode: 0440
  {{- end }}
  {{- if include "ugs.configurationFiles" . }}
  - name: configuration
    configMap:
      name: {{ include "ugs.name" . }}-configuration
      # The migration may come before it.
      optional: true
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "ugs.container" -}}
image: {{ include "ugs.image" . }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- with .Values.securityContext }}
securityContext: {{ toYaml . | nindent 2 }}
{{- end }}
{{- if or .Values.secret.existing (eq (include "ugs.needsSecret" .) "true") }}
envFrom:
  - secretRef:
      name: {{ include "ugs.secretName" . }}
{{- end }}
resources: {{ toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: temporary
    mountPath: /tmp
  {{- if .Values.sqlite.enabled }}
  - name: data
    mountPath: /data
  {{- end }}
  {{- if .Values.certificateAuthority.configMap }}
  - name: ca
    mountPath: /etc/user-group-service/ca
  {{- end }}
  {{- if .Values.secret.keysFile }}
  # A folder, because Kubernetes does not update a single mounted file.
  - name: keys
    mountPath: /etc/user-group-service/keys
  {{- end }}
  {{- if include "ugs.configurationFiles" . }}
  - name: configuration
    mountPath: /etc/user-group-service/configuration
  {{- end }}
  {{- with .Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
