{{/* The name of the release, because one release is one service. */}}
{{- define "ugs.name" -}}
{{ .Release.Name | trunc 50 | trimSuffix "-" }}
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

{{- define "ugs.secretName" -}}
{{ .Values.secret.existing | default (include "ugs.name" .) }}
{{- end }}

{{- define "ugs.image" -}}
{{ required "image.repository: set the name of the image built from deploy/Dockerfile" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
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
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
volumes:
  - name: temporary
    emptyDir:
      sizeLimit: {{ .Values.temporaryStorage }}
{{- end }}

{{- define "ugs.container" -}}
image: {{ include "ugs.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
envFrom:
  - secretRef:
      name: {{ include "ugs.secretName" . }}
volumeMounts:
  - name: temporary
    mountPath: /tmp
resources: {{ toYaml .Values.resources | nindent 2 }}
{{- end }}
