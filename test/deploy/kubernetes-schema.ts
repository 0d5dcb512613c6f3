import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'

/** An object of the Kubernetes API. */
export interface Resource {
  apiVersion: string
  kind: string
  metadata: { name: string }
}

type Validate = ((value: unknown) => boolean) & {
  errors?: Array<{ instancePath: string; keyword: string; params: object }> | null
}

/** The schemas of the Kubernetes API, compiled: by version and kind. */
const SCHEMAS: Record<string, string> = {
  'v1 Service': 'IoK8sApiCoreV1Service',
  'v1 ServiceAccount': 'IoK8sApiCoreV1ServiceAccount',
  'apps/v1 Deployment': 'IoK8sApiAppsV1Deployment',
  'autoscaling/v2 HorizontalPodAutoscaler': 'IoK8sApiAutoscalingV2HorizontalPodAutoscaler',
  'networking.k8s.io/v1 Ingress': 'IoK8sApiNetworkingV1Ingress',
  'networking.k8s.io/v1 NetworkPolicy': 'IoK8sApiNetworkingV1NetworkPolicy',
  'policy/v1 PodDisruptionBudget': 'IoK8sApiPolicyV1PodDisruptionBudget',
}

// By their files: the package exports only classes, which need every schema.
const require = createRequire(import.meta.url)
const SCHEMA_FOLDER = resolve('test/node_modules/kubernetes-models/_schemas')

/** What is wrong with an object by the schema of the Kubernetes API, such as an unknown field. Empty for a valid one. */
export function problemsOf(resource: Resource): string[] {
  const name = `${resource.apiVersion} ${resource.kind}`
  const schema = SCHEMAS[name]
  if (schema === undefined) return [`${name}: unknown version or kind`]
  const { validate } = require(join(SCHEMA_FOLDER, `${schema}.js`)) as { validate: Validate }
  const reads = new Set<string>()
  const isValid = validate(watched(resource, '', reads))
  const wrong = isValid ? [] : (validate.errors ?? [])
  return [
    ...wrong.map(
      ({ instancePath, keyword, params }) => `${name}${instancePath}: ${keyword} ${JSON.stringify(params)}`,
    ),
    ...fieldsOf(resource, '', reads).map((path) => `${name}${path}: unknown field`),
  ]
}

/** The value, whose fields are added to `reads` when they are read. The schemas accept unknown fields, but do not read them. */
function watched<T>(value: T, path: string, reads: Set<string>): T {
  if (typeof value !== 'object' || value === null) return value
  return new Proxy(value, {
    get(target, name) {
      if (typeof name === 'string') reads.add(`${path}/${name}`)
      return watched(Reflect.get(target, name), `${path}/${String(name)}`, reads)
    },
  })
}

/** The outermost fields that are not among `reads`. */
function fieldsOf(value: unknown, path: string, reads: Set<string>): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => {
    const own = `${path}/${name}`
    return reads.has(own) ? fieldsOf(each, own, reads) : [own]
  })
}
