import { readFileSync } from 'node:fs'
import { expect } from 'chai'
// @ts-expect-error the scripts have no types.
import { DASHBOARD, renderDashboard } from '../../scripts/grafana/dashboard.js'
import { eventually } from '../support/eventually.ts'
import { picture } from '../support/media/images.ts'
import { exchange } from '../support/requests/exchange.ts'
import { postForm } from '../support/requests/multipart.ts'
import { type Receiver, receiver } from '../support/requests/receiver.ts'
import { type Service, startService } from '../support/service.ts'
import { type Prometheus, startPrometheus } from './prometheus.ts'
import { readYaml } from './yaml.ts'

const METRICS_TOKEN = 'sixteen-letters-or-more'
// Prometheus adds the first two. `le` is the bound of a bucket.
const OWN_LABELS = ['job', 'instance', 'le']

interface Panel {
  title: string
  type: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }
const queries = panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({
    title,
    // What Grafana puts in.
    expr: expr.replaceAll('$__rate_interval', '1m').replace(/\$(?:job|instance)/g, '.+'),
  })),
)
const { groups } = readYaml('deploy/prometheus/alerts.yaml') as {
  groups: { rules: { alert: string; expr: string }[] }[]
}
const rules = groups.flatMap((group) => group.rules.map(({ alert, expr }) => ({ title: alert, expr })))

describe('the dashboard for Grafana and the alerts for Prometheus', () => {
  let service: Service
  let prometheus: Prometheus
  let target: Receiver
  let exposed: Map<string, ReadonlySet<string>>

  before(async () => {
    target = await receiver()
    service = await startService({
      env: {
        METRICS_TOKEN,
        WEBHOOK_URL: target.url('/'),
        WEBHOOK_SECRET: `whsec_${Buffer.alloc(24).toString('base64')}`,
        WEBHOOK_ALLOW_ADDRESSES: '127.0.0.1/32',
      },
    })
    await useEverything()
    exposed = metricsOf(await scrape())
    prometheus = await startPrometheus({ url: service.url, token: METRICS_TOKEN })
  })
  after(async () => {
    await prometheus?.remove()
    await service.stop()
    await target.close()
  })

  const scrape = async () => {
    const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
    return String((await exchange(service, '/metrics', { headers })).body)
  }
  /** An upload, a job, a render, a webhook and an error: most metrics have their labels only then. */
  async function useEverything(): Promise<void> {
    const form = [
      { disposition: 'name="transforms"', bytes: '["w=20"]' },
      { disposition: 'name="file"; filename="a.png"', bytes: await picture() },
    ]
    const uploaded = await postForm(service, form)
    expect(uploaded.status).to.equal(200)
    const [{ src }] = JSON.parse(String(uploaded.body)) as [{ src: string }]
    await exchange(service, `${new URL(src).pathname}?w=10&f=webp`)
    await exchange(service, '/nowhere')
    await eventually(async () => {
      const text = await scrape()
      expect(text).to.match(/^sluice_job_duration_seconds_count\{kind="derive",outcome="done"\} 1$/m)
      expect(text).to.match(/^sluice_webhook_attempt_duration_seconds_count\{outcome="delivered"\} [1-9]/m)
    })
  }

  it('name only metrics and labels that a service exposes', () => {
    const unknown = [...queries, ...rules].flatMap(({ title, expr }) =>
      unknownIn(expr, exposed).map((name) => `${title}: ${name}`),
    )
    expect(unknown).to.deep.equal([])
    // The check itself finds what does not exist.
    const wrong = 'sum by (colour) (rate(sluice_http_requests_total{shape="x"}[1m])) / sluice_nothing'
    expect(unknownIn(wrong, exposed)).to.deep.equal(['sluice_nothing', 'shape', 'colour'])
  })

  it('have queries that Prometheus accepts, with a result for each panel', async () => {
    // A busy service may leave out a metric in one scrape.
    await eventually(async () => {
      const empty: string[] = []
      for (const { title, expr } of queries)
        if ((await prometheus.query(expr)).length === 0) empty.push(title)
      // No comparison runs, nothing has failed, and nothing was refused.
      expect([...new Set(empty)]).to.deep.equal([
        'Refused because of a budget',
        'Failed calls',
        'Comparison of index and bucket',
      ])
    })
    for (const { expr } of rules) await prometheus.query(expr)
  })

  it('is written from its source, without panels that overlap', () => {
    expect(readFileSync(DASHBOARD, 'utf8')).to.equal(renderDashboard())
    for (const [i, { title, gridPos: a }] of panels.entries())
      for (const { title: other, gridPos: b } of panels.slice(i + 1)) {
        const isBeside = a.x + a.w <= b.x || b.x + b.w <= a.x || a.y + a.h <= b.y || b.y + b.h <= a.y
        expect(isBeside, `${title} and ${other}`).to.equal(true)
      }
    for (const { title, gridPos } of panels) expect(gridPos.x + gridPos.w, title).to.be.at.most(24)
  })
})

/** The metrics of an exposition with the labels of their samples. Those without samples have no labels. */
function metricsOf(text: string): Map<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const [, name = ''] of text.matchAll(/^# TYPE (\S+)/gm)) found.set(name, new Set())
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const of = found.get(name) ?? new Set()
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) of.add(label)
    found.set(name, of)
  }
  return found
}

/** What a query names that no metric of a service has. `up` is of Prometheus. */
function unknownIn(promql: string, exposed: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const names = promql.replace(/"[^"]*"/g, '""').match(/\b(?:sluice|nodejs|process)_\w+/g) ?? []
  expect(names, promql).not.to.deep.equal([])
  const unknownNames = names.filter((name) => !exposed.has(name))
  const known = new Set([...names.flatMap((name) => [...(exposed.get(name) ?? [])]), ...OWN_LABELS])
  const selected = [...promql.matchAll(/(\w+)\{([^}]*)\}/g)].flatMap(([, name = '', selectors = '']) =>
    [...selectors.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)]
      .map(([, label = '']) => label)
      .filter((label) => ![...(exposed.get(name) ?? []), ...OWN_LABELS].includes(label)),
  )
  const grouped = [...promql.matchAll(/\b(?:by|on|group_left) \(([^)]*)\)/g)]
    .flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()))
    .filter((label) => label !== '' && !known.has(label))
  return [...unknownNames, ...selected, ...grouped]
}
