import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { VARIABLES } from '../../config/schema.ts'
// @ts-expect-error: scripts have no types.
import { helmProgram } from '../../scripts/helm/program.js'
// @ts-expect-error: scripts have no types.
import { hasHelm } from '../../scripts/ready/node-modules.js'
import { everyNth } from '../support/sized.ts'
import { problemsOf, type Resource } from './kubernetes-schema.ts'
import { documents } from './yaml.ts'

const FOLDER = 'deploy/kubernetes'
const MANIFESTS = readFileSync(`${FOLDER}/manifests.yaml`, 'utf8')

interface Port {
  name: string
  containerPort: number
}

interface Probe {
  httpGet: { path: string; port: string }
}

interface Container {
  command?: string[]
  env: Array<{
    name: string
    value?: string
    valueFrom?: { secretKeyRef: { name: string; key: string; optional?: boolean } }
  }>
  ports: Port[]
  volumeMounts: Array<{ name: string; mountPath: string }>
  securityContext: object
  resources: object
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe?: Probe
}

interface Deployment extends Resource {
  spec: {
    selector: { matchLabels: object }
    template: {
      metadata: { labels: object }
      spec: {
        automountServiceAccountToken: boolean
        enableServiceLinks: boolean
        terminationGracePeriodSeconds: number
        securityContext: object
        containers: [Container]
        volumes: Array<{ name: string; emptyDir?: object }>
      }
    }
  }
}

/** The variables that the pods take from the Secret, and do not start without. */
const REQUIRED_SECRETS = ['REDIS_URL', 'APP_SECRET', 'CLIENT_TOKEN', 'SECRET_CLIENT_TOKEN']

const resources = documents(MANIFESTS) as Resource[]
const ofKind = <T extends Resource>(kind: string, all = resources) =>
  all.filter((resource) => resource.kind === kind) as T[]
const deployments = ofKind<Deployment>('Deployment')
const pods = deployments.map(({ metadata, spec }) => ({ name: metadata.name, pod: spec.template.spec }))
const containers = pods.map(({ name, pod }) => ({ name, container: pod.containers[0] }))
const envOf = ({ env }: Container) => Object.fromEntries(env.map(({ name, value }) => [name, value]))

describe('the Kubernetes manifests', () => {
  it('are valid by the schemas of the Kubernetes API, without unknown fields', () => {
    expect(resources).to.have.length.above(9)
    expect(resources.flatMap(problemsOf)).to.deep.equal([])
  })

  it('would be refused with an unknown field, a wrong type or an old version', () => {
    const [first] = deployments
    const wrong = structuredClone(first) as unknown as Resource & { spec: Record<string, unknown> }
    wrong.spec.replica = 2
    wrong.spec.minReadySeconds = 'soon'
    expect(problemsOf(wrong)).to.deep.equal([
      'apps/v1 Deployment/spec/minReadySeconds: type {"type":"integer"}',
      'apps/v1 Deployment/spec/replica: unknown field',
    ])
    expect(problemsOf({ ...wrong, apiVersion: 'apps/v1beta2' })).to.have.length(1)
  })

  it('run as the user of the image, without rights and with a read-only root file system', () => {
    const user = Number(/^USER (\d+):/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1])
    for (const { name, pod } of pods) {
      expect(pod.securityContext, name).to.deep.equal({
        runAsNonRoot: true,
        runAsUser: user,
        runAsGroup: user,
        fsGroup: user,
        seccompProfile: { type: 'RuntimeDefault' },
      })
      expect(pod.automountServiceAccountToken, name).to.equal(false)
      expect(pod.containers[0].securityContext, name).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      const writable = pod.containers[0].volumeMounts.map(({ mountPath }) => mountPath)
      expect(writable, name).to.deep.equal([envOf(pod.containers[0]).DATA_DIR, '/tmp'])
      expect(pod.volumes.every(({ emptyDir }) => emptyDir)).to.equal(true)
    }
  })

  it('have variables that Sluice knows with valid values, and no secret', () => {
    for (const { name, container } of containers) {
      const variables = VARIABLES as Record<string, { secret?: boolean; read(text: string): unknown }>
      for (const { name: variable, value } of container.env.filter(({ valueFrom }) => !valueFrom)) {
        expect(variables[variable]?.read(value ?? ''), `${name}: ${variable}`).not.to.equal(undefined)
        expect(variables[variable]?.secret, `${name}: ${variable}`).not.to.equal(true)
      }
    }
    expect(MANIFESTS).not.to.match(/^kind: Secret$/m)
    expect(MANIFESTS.match(/secretRef:/g)).to.have.length(2)
  })

  it('do not start without the bucket, Redis, APP_SECRET and the tokens: each pod would have files and tokens of its own', () => {
    for (const { name, container } of containers) {
      expect(envOf(container).S3_BUCKET, name).to.be.a('string')
      const required = container.env.flatMap(({ name: variable, valueFrom }) => {
        if (valueFrom) expect(valueFrom.secretKeyRef).to.deep.equal({ name: 'sluice', key: variable })
        return valueFrom ? [variable] : []
      })
      expect(required, name).to.have.members(REQUIRED_SECRETS)
    }
  })

  it('get no variables of Services, such as SLUICE_PORT, which are no settings of Sluice', () => {
    for (const { name, pod } of pods) expect(pod.enableServiceLinks, name).to.equal(false)
  })

  it('may connect to Redis and S3 at any address, and in pods of the cluster', () => {
    const [policy] = ofKind<Resource & { spec: { egress: Array<{ to?: object[] }> } }>('NetworkPolicy')
    expect(policy?.spec.egress[1]?.to).to.deep.include({ namespaceSelector: {} })
  })

  it('accept requests of the ingress controller only: other pods could forge X-Forwarded-For', () => {
    const [, policy] = ofKind<Resource & { spec: { ingress: Array<{ from?: object[] }> } }>('NetworkPolicy')
    expect(policy?.spec.ingress.map(({ from }) => from)).to.deep.equal([
      [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress-nginx' } } }],
    ])
  })

  it('start the server and the worker, and check them at the ports where they listen', () => {
    const [web, worker] = containers.map(({ container }) => container)
    expect(web?.command).to.equal(undefined)
    expect(worker?.command).to.deep.equal(['sluice', 'worker'])
    const port = (container: Container | undefined, wanted: string) =>
      container?.ports.find(({ name }) => name === wanted)?.containerPort
    expect(port(web, 'http')).to.equal(Number(VARIABLES.PORT.default))
    for (const { container } of containers) {
      expect(String(port(container, 'metrics'))).to.equal(envOf(container).METRICS_PORT)
      expect(envOf(container).METRICS_HOST).to.equal('0.0.0.0')
    }
    expect(web?.readinessProbe?.httpGet).to.deep.equal({ path: '/readyz', port: 'http' })
    expect(web?.livenessProbe.httpGet).to.deep.equal({ path: '/healthz', port: 'http' })
    expect(worker?.livenessProbe.httpGet).to.deep.equal({ path: '/healthz', port: 'metrics' })
    expect(worker?.readinessProbe).to.equal(undefined)
  })

  it('allow more time to stop than the processes take', () => {
    const [web, worker] = pods
    const { SHUTDOWN_DELAY_SECONDS: delay, SHUTDOWN_DRAIN_SECONDS: drain } = envOf(
      web?.pod.containers[0] as Container,
    )
    expect(web?.pod.terminationGracePeriodSeconds).to.equal(Number(delay) + Number(drain) + 5)
    expect(worker?.pod.terminationGracePeriodSeconds).to.be.above(8)
  })

  it('have selectors that find exactly the pods they are for', () => {
    const names = (labels: object) =>
      deployments
        .filter(({ spec }) => {
          const own = spec.template.metadata.labels as Record<string, string>
          return Object.entries(labels).every(([name, value]) => own[name] === value)
        })
        .map(({ metadata }) => metadata.name)
    for (const { metadata, spec } of deployments)
      expect(names(spec.selector.matchLabels)).to.deep.equal([metadata.name])
    const [service] = ofKind<Resource & { spec: { selector: object } }>('Service')
    expect(names(service?.spec.selector ?? {})).to.deep.equal(['sluice-web'])
    const budgets = ofKind<Resource & { spec: { selector: { matchLabels: object } } }>('PodDisruptionBudget')
    expect(budgets.map(({ spec }) => names(spec.selector.matchLabels))).to.deep.equal([
      ['sluice-web'],
      ['sluice-worker'],
    ])
    const policies = ofKind<Resource & { spec: { podSelector: { matchLabels: object } } }>('NetworkPolicy')
    expect(policies.map(({ spec }) => names(spec.podSelector.matchLabels))).to.deep.equal([
      ['sluice-web', 'sluice-worker'],
      ['sluice-web'],
    ])
    const scaled = ofKind<Resource & { spec: { scaleTargetRef: { name: string } } }>(
      'HorizontalPodAutoscaler',
    )
    expect(scaled.map(({ spec }) => spec.scaleTargetRef.name)).to.deep.equal(['sluice-web'])
  })
})

describe('the schema of the values', () => {
  it('refuses secrets, which belong in the Secret, and variables that the chart sets', () => {
    const schema = JSON.parse(readFileSync(`${FOLDER}/chart/values.schema.json`, 'utf8'))
    const secrets = Object.entries(VARIABLES).filter(
      ([, variable]) => 'secret' in variable && variable.secret,
    )
    expect(secrets).to.have.length.above(8)
    expect(schema.properties.config.propertyNames.not.enum).to.have.members([
      ...['BASE_URL', 'HOST', 'PORT', 'DATA_DIR', 'METRICS_PORT', 'METRICS_HOST', 'CLIENT_TOKEN'],
      ...secrets.map(([name]) => name),
    ])
  })
})

// The package of Helm is for Linux on x64 only. Elsewhere, only the manifests in the repository are tested, and not that the chart renders them.
if (hasHelm)
  describe('the Helm chart', () => {
    let program: string
    before(async () => {
      program = await helmProgram()
    })

    const helm = (...args: string[]) => spawnSync(program, args, { cwd: FOLDER, encoding: 'utf8' })
    const render = (...options: string[]) =>
      helm('template', 'sluice', 'chart', '--values', 'values.example.yaml', ...options)
    const set = (...pairs: string[]) => pairs.flatMap((pair) => ['--set', pair])

    it('renders the manifests of the repository (npm run manifests)', () => {
      const [, text] = /^#.+\n([\s\S]*)$/.exec(MANIFESTS) ?? []
      expect(render().stdout).to.equal(text)
    })

    it('has the version of the service, and passes helm lint', () => {
      const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
      expect(readFileSync(`${FOLDER}/chart/Chart.yaml`, 'utf8')).to.include(
        `\nversion: ${version}\nappVersion: ${version}\n`,
      )
      const { stdout, status } = helm('lint', 'chart', '--strict', '--values', 'values.example.yaml')
      expect(status, stdout).to.equal(0)
    })

    it('renders valid manifests with every option', () => {
      const { stdout, stderr } = render(
        ...set(
          'worker.autoscaling.enabled=true',
          'ingress.maxBodyBytes=5368709120',
          'imagePullSecrets[0].name=registry',
          'metricsPort=9200',
        ),
        ...set('serviceAccount.annotations.eks\\.amazonaws\\.com/role-arn=arn:aws:iam::1:role/sluice'),
        ...set('nodeSelector.disk=ssd', 'tolerations[0].key=media', 'ingress.annotations.a=b'),
        ...set('networkPolicy.webFrom[0].podSelector.matchLabels.app=nginx', 'image.tag=1.2.3'),
      )
      const all = documents(stdout) as Resource[]
      expect(all.flatMap(problemsOf), stderr).to.deep.equal([])
      const scaled = ofKind<Resource & { spec: { metrics: object[] } }>('HorizontalPodAutoscaler', all)
      expect(scaled.map(({ spec }) => spec.metrics)).to.deep.equal([
        [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 150 } },
          },
        ],
        [
          {
            type: 'External',
            external: {
              metric: { name: 'sluice_jobs' },
              target: { type: 'AverageValue', averageValue: '2' },
            },
          },
        ],
      ])
      expect(stdout).to.include('nginx.org/client-max-body-size: "5368709120"').and.include('sluice:1.2.3"')
      expect(stdout.match(/prometheus\.io\/port: .*/g)).to.deep.equal(
        Array(2).fill('prometheus.io/port: "9200"'),
      )
    })

    it('renders valid manifests without the optional parts', () => {
      const { stdout, stderr } = render(
        ...set('web.autoscaling.enabled=false', 'ingress.enabled=false', 'networkPolicy.enabled=false'),
        ...set('podDisruptionBudget.enabled=false', 'podAnnotations=null'),
      )
      const all = documents(stdout) as Resource[]
      expect(all.flatMap(problemsOf), stderr).to.deep.equal([])
      expect(all.map(({ kind }) => kind)).to.have.members([
        'ServiceAccount',
        'Service',
        'Deployment',
        'Deployment',
      ])
      expect(stdout).to.include('replicas: 2\n').and.include('replicas: 1\n')
    })

    it('refuses values that it does not know, variables that it sets itself, and missing ones', () => {
      for (const [pair, path] of everyNth(2, [
        ['baseUrl=files.example.com', '/baseUrl'],
        ['web.replica=3', '/web'],
        ['config.DATA_DIR=/srv', "': invalid propertyName 'DATA_DIR'"],
        ['worker.autoscaling.maxReplicas=0', '/worker/autoscaling/maxReplicas'],
        ['config.S3_BUCKET=', '/config/S3_BUCKET'],
        ['config=null', "'config'"],
        ['web.autoscaling.minReplicas=8', 'web.autoscaling.minReplicas is 8, above maxReplicas, 6'],
      ] as const)) {
        const { stderr, status } = render(...set(pair))
        expect(status, pair).to.equal(1)
        expect(stderr).to.include(path)
      }
      const { stderr } = helm('template', 'sluice', 'chart', ...set('baseUrl=https://files.example.com'))
      expect(stderr).to.include("at '/config': missing property 'S3_BUCKET'")
    })
  })
