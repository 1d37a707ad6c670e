{{- define "app.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}{{- $name = printf "%s-%s" $name .Chart.Name -}}{{- end -}}
{{- $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that never change. Takes the root context and the component. */}}
{{- define "app.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{- define "app.labels" -}}
{{ include "app.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end -}}

{{- define "app.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}

{{- define "app.secret" -}}
{{ required "existingSecret is required: the name of a Secret that you have created, see docs/kubernetes.md" .Values.existingSecret }}
{{- end -}}

{{/* Prints a value as text. Helm reads large numbers as floats and would print 1000000 as 1e+06. */}}
{{- define "app.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{- int64 . -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}

{{/* Rejects names in `config` that no service reads, that the chart sets itself, or that belong to a secret. */}}
{{- define "app.checkConfig" -}}
{{- $plain := list -}}
{{- $secret := list -}}
{{- range $service, $variables := (.Files.Get "variables.json" | fromJson).services -}}
{{- $plain = concat $plain $variables.plain -}}
{{- range $name, $key := $variables.secret -}}{{- $secret = append $secret $name -}}{{- end -}}
{{- end -}}
{{- range $name, $value := .Values.config -}}
{{- if has $name (list "HOST" "PORT" "ADMIN_PORT") -}}{{- fail (printf "config.%s is set by the chart" $name) -}}{{- end -}}
{{- if has $name $secret -}}{{- fail (printf "config.%s is a secret: put it into the Secret %s" $name $.Values.existingSecret) -}}{{- end -}}
{{- if not (has $name $plain) -}}{{- fail (printf "config.%s is not an environment variable of any service" $name) -}}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The environment of one service. Takes the root context and the service. */}}
{{- define "app.env" -}}
{{- include "app.checkConfig" .root -}}
{{- $secretName := include "app.secret" .root -}}
{{- $variables := index (.root.Files.Get "variables.json" | fromJson).services .component -}}
{{- $given := merge (dict "HOST" "0.0.0.0" "PORT" "8000" "ADMIN_PORT" "9000") .root.Values.config -}}
{{- range $name := $variables.plain }}
{{- if hasKey $given $name }}
- { name: {{ $name }}, value: {{ include "app.text" (index $given $name) | quote }} }
{{- end }}
{{- end }}
{{- range $name, $key := $variables.secret }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef: { name: {{ $secretName }}, key: {{ $key }}, optional: {{ not (has $name $variables.required) }} }
{{- end }}
{{- end -}}

{{- define "app.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .Values.pods.user }}
  runAsGroup: {{ .Values.pods.user }}
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{- define "app.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}
