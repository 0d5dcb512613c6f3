import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { expect } from 'chai'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readYaml } from './yaml.ts'

const RULES = 'deploy/prometheus/alerts.yaml'
const RUNBOOKS = 'docs/how-to/troubleshoot.md'

interface Rule {
  alert: string
  annotations: { summary: string; runbook: string }
  labels: { severity: string }
}

/** When an alert fires. Values are in the notation of promtool. */
interface Case {
  /** The time from one value to the next. Default: a minute. */
  every?: string
  /** The values of each series. */
  series: Record<string, string>
  /** When to look. */
  at: string
  /** In addition to the severity. */
  labels?: Record<string, string>
  summary: string
  /** The values of the same series with which it does not fire, from the first one that differs. One or several times. */
  quiet: Record<string, string> | Record<string, string>[]
}

const J = 'job="sluice"'
const I = `${J}, instance="a:9100"`
const INSTANCE = { job: 'sluice', instance: 'a:9100' }
const INFO = { [`sluice_build_info{${I}, version="1.0.0"}`]: '1x2000' }

/** Buckets of a histogram in which all new observations are in one of them. */
const slow = (name: string, labels: string, le: string): Record<string, string> => ({
  [`${name}_bucket{${labels}, le="0.001"}`]: '0x200',
  [`${name}_bucket{${labels}, le="${le}"}`]: '0+60x200',
  [`${name}_bucket{${labels}, le="+Inf"}`]: '0+60x200',
})
const REQUESTS = 'sluice_http_requests_total'
const PROBLEMS = 'sluice_http_problems_total'
const WEBHOOKS = 'sluice_webhook_attempt_duration_seconds_count'
const STORAGE = 'sluice_storage_duration_seconds'
const SECONDS = 'sluice_http_request_duration_seconds'
const DELIVERY = `${J}, method="GET", route="/v1/:group/upload/:token/*path"`

const CASES: Record<string, Case> = {
  SluiceDown: {
    every: '30m',
    // It is still down after a day.
    series: { [`sluice_build_info{${I}, version="1.0.0"}`]: '1x3', [`up{${I}}`]: '1x3 0x60' },
    at: '30h',
    labels: INSTANCE,
    summary: 'a:9100 does not return metrics.',
    // It has just ended.
    quiet: { [`up{${I}}`]: '1x59 0x20' },
  },
  SluiceRestarts: {
    series: { ...INFO, [`process_start_time_seconds{${I}}`]: '1x5 2x5 3x5 4x40' },
    at: '25m',
    labels: INSTANCE,
    summary: 'Processes of a:9100 were restarted 3 times in 30 minutes.',
    quiet: { [`process_start_time_seconds{${I}}`]: '1x5 2x5 3x40' },
  },
  SluiceStoreDown: {
    series: { [`sluice_up{${I}, store="index"}`]: '0x20' },
    at: '5m',
    labels: { job: 'sluice', store: 'index' },
    summary: 'The index does not respond.',
    quiet: { [`sluice_up{${I}, store="index"}`]: '1x20' },
  },
  SluiceStorageSlow: {
    series: slow(STORAGE, `${J}, store="index", operation="find"`, '0.2'),
    at: '30m',
    labels: { job: 'sluice', store: 'index' },
    summary: '5 % of the calls of the index take longer than 190ms.',
    quiet: [
      slow(STORAGE, `${J}, store="bucket", operation="find"`, '0.2'),
      // It takes as long as the client sends.
      slow(STORAGE, `${J}, store="bucket", operation="put"`, '5'),
    ],
  },
  SluiceStorageFull: {
    series: { [`${PROBLEMS}{${J}, code="storage_full", status="503"}`]: '0x5 1x5' },
    at: '8m',
    labels: { job: 'sluice' },
    summary: 'Uploads are refused: the disk, the bucket or Redis is full.',
    quiet: { [`${PROBLEMS}{${J}, code="storage_full", status="503"}`]: '1x20' },
  },
  SluiceErrors: {
    series: {
      [`${REQUESTS}{${J}, status="200"}`]: '0+90x60',
      [`${REQUESTS}{${J}, status="500"}`]: '0+10x60',
    },
    at: '20m',
    labels: { job: 'sluice' },
    summary: '10% of the responses are server errors.',
    quiet: [
      { [`${REQUESTS}{${J}, status="500"}`]: '0+4x60' },
      // Two per minute of a service with few requests.
      { [`${REQUESTS}{${J}, status="200"}`]: '0+1x60', [`${REQUESTS}{${J}, status="500"}`]: '0+2x60' },
      // A remote server does not respond.
      { [`${REQUESTS}{${J}, status="500"}`]: '0x60', [`${REQUESTS}{${J}, status="502"}`]: '0+90x60' },
    ],
  },
  SluiceFileDamaged: {
    series: { [`${PROBLEMS}{${J}, code="file_damaged", status="500"}`]: '0x5 1x50' },
    at: '30m',
    labels: { job: 'sluice' },
    summary: 'A stored file has lost bytes.',
    quiet: { [`${PROBLEMS}{${J}, code="file_damaged", status="500"}`]: '0x50' },
  },
  SluiceSlow: {
    series: slow(SECONDS, DELIVERY, '10'),
    at: '40m',
    labels: { job: 'sluice' },
    summary: '5 % of the deliveries take longer than 9.5s.',
    quiet: slow(SECONDS, DELIVERY, '1'),
  },
  SluiceEventLoopBlocked: {
    series: { ...INFO, [`nodejs_eventloop_lag_p99_seconds{${I}}`]: '0.8x30' },
    at: '15m',
    labels: INSTANCE,
    summary: 'An event loop of a:9100 waits 800ms.',
    quiet: { [`nodejs_eventloop_lag_p99_seconds{${I}}`]: '0.1x30' },
  },
  SluiceTransformsWaiting: {
    series: {
      [`sluice_transforms_waiting{${I}}`]: '48x20',
      [`sluice_transforms_waiting_limit{${I}}`]: '64x20',
    },
    at: '10m',
    labels: INSTANCE,
    summary: 'The queue of transformations of a:9100 is full to 75%. At 100%, requests get a 503.',
    // Of eight processes.
    quiet: {
      [`sluice_transforms_waiting{${I}}`]: '200x20',
      [`sluice_transforms_waiting_limit{${I}}`]: '2048x20',
    },
  },
  SluiceTransformsFail: {
    series: {
      [`sluice_transform_duration_seconds_count{${J}, format="none", outcome="failed"}`]: '0+1x30',
    },
    at: '20m',
    labels: { job: 'sluice' },
    summary: '15 transformations failed in 15 minutes, not because of their files.',
    quiet: {
      [`sluice_transform_duration_seconds_count{${J}, format="none", outcome="refused"}`]: '0+1x30',
    },
  },
  SluiceJobsWaiting: {
    series: {
      [`sluice_jobs_waiting{${I}, kind="media"}`]: '3x30',
      [`sluice_jobs_running{${I}, kind="media"}`]: '0x30',
    },
    at: '20m',
    labels: { job: 'sluice', kind: 'media' },
    summary: 'Jobs of the kind media wait, but no job runs.',
    quiet: { [`sluice_jobs_running{${I}, kind="media"}`]: '1x30' },
  },
  SluiceCallersRefused: {
    series: {
      [`${REQUESTS}{${J}, status="429"}`]: '0+50x60',
      [`${REQUESTS}{${J}, status="200"}`]: '0+50x60',
      [`${PROBLEMS}{${J}, code="rate_limited", status="429"}`]: '0+50x60',
    },
    at: '30m',
    labels: { job: 'sluice', code: 'rate_limited' },
    summary: '50% of the requests are refused with rate_limited.',
    quiet: { [`${PROBLEMS}{${J}, code="rate_limited", status="429"}`]: '0+5x60' },
  },
  SluiceWebhooksFail: {
    series: { [`${WEBHOOKS}{${J}, outcome="failed"}`]: '0x5 2x50' },
    at: '30m',
    labels: { job: 'sluice' },
    summary: '2 events were not delivered. No further attempt follows.',
    quiet: { [`${WEBHOOKS}{${J}, outcome="failed"}`]: '2x50' },
  },
  SluiceWebhooksRetried: {
    series: {
      [`${WEBHOOKS}{${J}, outcome="delivered"}`]: '0+1x100',
      [`${WEBHOOKS}{${J}, outcome="retried"}`]: '0+3x100',
    },
    at: '70m',
    labels: { job: 'sluice' },
    summary: '75% of the attempts to deliver an event fail.',
    quiet: { [`${WEBHOOKS}{${J}, outcome="retried"}`]: '0+1x100' },
  },
  SluiceIndexIncomplete: {
    series: { [`sluice_index_ready{${I}, part="lists"}`]: '0x60' },
    at: '40m',
    labels: { job: 'sluice', part: 'lists' },
    summary: 'The lists of the index lack files for more than 30 minutes.',
    quiet: { [`sluice_index_ready{${I}, part="lists"}`]: '1x20 0x60' },
  },
  SluiceIndexDiffers: {
    series: { [`sluice_index_differences_total{${J}, outcome="failed"}`]: '0x5 10x50' },
    at: '30m',
    labels: { job: 'sluice' },
    summary: '10 files of the bucket could not be added to the index.',
    quiet: { [`sluice_index_differences_total{${J}, outcome="added"}`]: '0x5 10x50' },
  },
  SluiceMoveInterrupted: {
    every: '30m',
    series: { [`sluice_index_moves{${I}}`]: '1x60' },
    at: '25h',
    labels: { job: 'sluice' },
    summary: 'Clients whose move to other partitions is not complete: 1.',
    quiet: { [`sluice_index_moves{${I}}`]: '0x10 1x60' },
  },
}

describe('the alerts for Prometheus', () => {
  const { groups } = readYaml(RULES) as { groups: { rules: Rule[] }[] }
  const rules = groups.flatMap((group) => group.rules)

  it('are valid, fire when they should, and not otherwise', async () => {
    expect(rules.map(({ alert }) => alert).toSorted()).to.deep.equal(Object.keys(CASES).toSorted())
    const tests = rules.flatMap(({ alert, labels, annotations: { summary: _, ...annotations } }) => {
      const { every = '1m', series, at, summary, quiet, ...one } = CASES[alert] as Case
      const firing = {
        exp_labels: { ...labels, ...one.labels },
        exp_annotations: { summary, ...annotations },
      }
      const others = [quiet].flat().map((values) => {
        const isReplaced = Object.keys(values).some((name) => name in series)
        return { ...(isReplaced ? series : {}), ...values }
      })
      return [
        { every, test: testOf(alert, { every, series, at, alerts: [firing] }) },
        ...others.map((values) => ({
          every,
          test: testOf(alert, { every, series: values, at, alerts: [] }),
        })),
      ]
    })
    promtool(['check', 'rules', RULES])
    const folder = await temporaryFolder()
    try {
      const file = join(folder, 'tests.yaml')
      // Each test evaluates all rules at each interval: a day of minutes would take seconds of CPU time.
      for (const every of new Set(tests.map((one) => one.every))) {
        const some = tests.filter((one) => one.every === every).map(({ test }) => test)
        const content = { rule_files: [resolve(RULES)], evaluation_interval: every, tests: some }
        await writeFile(file, JSON.stringify(content))
        promtool(['test', 'rules', file])
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('have a section with symptom, cause and command each', () => {
    const sections = new Map(
      readFileSync(RUNBOOKS, 'utf8')
        .split(/^## /m)
        .slice(1)
        .map((text) => [anchorOf(text.slice(0, text.indexOf('\n'))), text]),
    )
    const linked = new Set(rules.map(({ annotations: { runbook } }) => runbook.split(`${RUNBOOKS}#`)[1]))
    for (const { alert, annotations } of rules) {
      const section = sections.get(annotations.runbook.slice(RUNBOOKS.length + 1)) ?? ''
      expect(section, annotations.runbook).to.include(`\`${alert}\``)
    }
    expect([...sections.keys()].filter((anchor) => !linked.has(anchor))).to.deep.equal([])
    for (const [anchor, section] of sections) {
      for (const label of ['**Symptom**', '**Cause**', '**Command**'])
        expect(section, anchor).to.include(label)
      expect(section, anchor).to.match(/```(?:sh|promql)\n/)
    }
  })
})

function testOf(
  alertname: string,
  { every, series, at, alerts }: Pick<Case, 'series' | 'at'> & { every: string; alerts: object[] },
): object {
  return {
    name: alertname,
    interval: every,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname, exp_alerts: alerts }],
  }
}

/** @throws Error with the output of promtool when it has found an error */
function promtool(args: readonly string[]): void {
  try {
    execFileSync('promtool', args, { encoding: 'utf8', stdio: 'pipe' })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(stdout + stderr)
  }
}

/** The anchor of a heading, as GitHub derives it. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-')
}
