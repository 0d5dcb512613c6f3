import type { z } from 'zod'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { systemReport } from '../wire/system.ts'
import { type ReadinessChecks, readinessOf } from './health.ts'

/** What does not change while the process runs. It contains no secrets. */
export type SystemFacts = Pick<z.input<typeof systemReport>, 'storage' | 'plugins' | 'settings'>

/** The services that handle these requests. */
export interface Services {
  checks: ReadinessChecks
  systemFacts: SystemFacts
}

const getSystem = endpoint({
  route: 'GET /v1/system',
  id: 'getSystem',
  tag: 'Service',
  summary: 'Get version, checks, plugins and settings of the installation',
  access: 'admin',
  query: {},
  responses: {
    200: json(systemReport, 'The state of the installation. Also when a check has failed.'),
  },
  examples: [{ id: 'all', summary: 'The state of the installation', status: 200 }],

  async handle({ checks, systemFacts }: Services) {
    const report: z.input<typeof systemReport> = {
      ...(await readinessOf(checks)),
      nodeVersion: process.versions.node,
      uptimeSeconds: Math.floor(process.uptime()),
      ...systemFacts,
    }
    return { json: report }
  },
})

/** The state of the installation, for the operator. */
export const SYSTEM = [getSystem]
