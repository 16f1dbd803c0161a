{{- define "afterturn.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "afterturn.labels" -}}
app.kubernetes.io/name: afterturn
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "afterturn.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* What every pod of the fleet has: no root, nothing to write but /tmp and /data, no token of the cluster. */}}
{{- define "afterturn.pod" -}}
# Kubernetes would set variables that begin with AFTERTURN_ for a Service of that name, and what is no setting is refused.
enableServiceLinks: false
automountServiceAccountToken: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .root.Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "afterturn.labels" . | nindent 8 }}
volumes:
  - name: tmp
    emptyDir: {}
  - name: data
    emptyDir: {sizeLimit: 1Gi}
{{- end -}}

{{- define "afterturn.settings" -}}
{{- if eq (default "sqlite" .Values.settings.AFTERTURN_INDEX) "sqlite" }}
{{- fail "settings.AFTERTURN_INDEX: each pod would have an index of its own; pgvector, qdrant, weaviate and s3vectors are shared" }}
{{- end }}
AFTERTURN_DATA_DIR: /data
{{- range $name, $value := .Values.settings }}
{{- /* Helm reads a number as a float, and would write a large one with an exponent. */}}
{{ $name }}: {{ if kindIs "string" $value }}{{ $value | quote }}{{ else }}{{ $value | toJson | quote }}{{ end }}
{{- end }}
{{- end -}}

{{- define "afterturn.container" -}}
image: {{ include "afterturn.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
envFrom:
  {{- if not .beforeRelease }}
  - configMapRef: {name: {{ include "afterturn.name" .root }}-settings}
  {{- end }}
  - secretRef: {name: {{ required "secretName: name the Secret with AFTERTURN_BROKER_URL and AFTERTURN_CATALOG_URL" .root.Values.secretName | quote }}}
volumeMounts:
  - {name: tmp, mountPath: /tmp}
  - {name: data, mountPath: /data}
resources: {{ toYaml .resources | nindent 2 }}
{{- end -}}

{{- define "afterturn.podmeta" -}}
metadata:
  labels: {{ include "afterturn.labels" . | nindent 4 }}
  annotations:
    # Pods start anew when a setting changes.
    checksum/settings: {{ toYaml .root.Values.settings | sha256sum }}
    {{- with .metricsPort }}
    prometheus.io/scrape: "true"
    prometheus.io/port: {{ . | quote }}
    {{- end }}
    {{- range $name, $value := .root.Values.podAnnotations }}
    {{ $name }}: {{ $value | toString | quote }}
    {{- end }}
{{- end -}}
