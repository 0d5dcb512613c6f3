import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/servers/free-port.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A Prometheus of this test alone. */
export interface Prometheus {
  /** The series of an instant query. @throws Error with the message of Prometheus for an invalid query */
  query(promql: string): Promise<readonly unknown[]>
  remove(): Promise<void>
}

/** Starts a Prometheus that scrapes a service as the job "sluice" each second. @returns when it has scraped it three times */
export async function startPrometheus({ url, token }: { url: string; token: string }): Promise<Prometheus> {
  const folder = await temporaryFolder()
  const config = join(folder, 'prometheus.yaml')
  // JSON is YAML.
  await writeFile(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [
        {
          job_name: 'sluice',
          static_configs: [{ targets: [new URL(url).host] }],
          authorization: { credentials: token },
        },
      ],
    }),
  )
  const port = await freePort()
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ]
  // The shell ends the server when this process ends, however it ends.
  const life = spawn('sh', ['-c', 'prometheus "$@" & read -r _; kill -9 $!', 'sh', ...args], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  async function query(promql: string): Promise<readonly unknown[]> {
    const body = new URLSearchParams({ query: promql })
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/query`, { method: 'POST', body })
    const { error, data } = (await response.json()) as { error?: string; data?: { result: unknown[] } }
    if (!data) throw new Error(`${promql}: ${error}`)
    return data.result
  }
  const remove = async () => {
    life.stdin.end()
    await once(life, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await eventually(async () => {
      if ((await query('count_over_time(sluice_build_info[1m]) > 2')).length === 0)
        throw new Error('Prometheus has not scraped the service')
    })
  } catch (error) {
    await remove()
    throw error
  }
  return { query, remove }
}
