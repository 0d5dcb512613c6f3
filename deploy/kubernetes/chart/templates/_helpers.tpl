{{- define "sluice.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "sluice.selector" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "sluice.labels" -}}
{{ include "sluice.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{- define "sluice.host" -}}
{{- (urlParse .Values.baseUrl).hostname -}}
{{- end -}}

{{/* Everything that the pods of web processes and workers share. `part` is the name of the container. */}}
{{- define "sluice.pod" -}}
serviceAccountName: {{ include "sluice.name" . }}
automountServiceAccountToken: false
# Variables such as SLUICE_PORT would be reported as misspelt settings.
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "sluice.annotations" -}}
{{- with .Values.podAnnotations -}}
annotations:
  {{- toYaml (merge (dict) . (dict "prometheus.io/port" (toString $.Values.metricsPort))) | nindent 2 }}
{{- end -}}
{{- end -}}

{{- define "sluice.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - name: BASE_URL
    value: {{ .Values.baseUrl | quote }}
  - name: DATA_DIR
    value: /data
  - name: METRICS_PORT
    value: {{ .Values.metricsPort | quote }}
  # Probes and Prometheus come from other machines.
  - name: METRICS_HOST
    value: 0.0.0.0
  {{- range $name, $value := .Values.config }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
  # Without one of these, the pod does not start.
  {{- $secret := .Values.secret.name }}
  {{- range list "REDIS_URL" "APP_SECRET" "CLIENT_TOKEN" "SECRET_CLIENT_TOKEN" }}
  - name: {{ . }}
    valueFrom:
      secretKeyRef:
        name: {{ $secret }}
        key: {{ . }}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .Values.secret.name }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
{{- end -}}

{{- define "sluice.volumes" -}}
- name: data
  emptyDir:
    sizeLimit: {{ . }}
- name: tmp
  emptyDir:
    sizeLimit: 1Gi
{{- end -}}

{{- define "sluice.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "sluice.selector" .root | nindent 8 }}
        app.kubernetes.io/component: {{ .part }}
{{- end -}}
