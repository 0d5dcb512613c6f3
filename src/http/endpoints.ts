import { deliverAlias } from './aliases/deliver.ts'
import { ALIASES } from './aliases/endpoints.ts'
import { ARCHIVES } from './archive/endpoints.ts'
import { CLIENTS } from './clients/endpoints.ts'
import { COMPAT } from './compat/endpoints.ts'
import { AUDIT } from './console/audit.ts'
import { SESSIONS } from './console/endpoints.ts'
import { MEMBERS } from './console/members.ts'
import { CONSOLE_PAGES } from './console/pages.ts'
import { DELIVERIES } from './delivery/deliver.ts'
import { FETCHES } from './delivery/fetch.ts'
import { getInformation } from './delivery/information.ts'
import { getJob } from './delivery/jobs/get.ts'
import { FILES } from './files/endpoints.ts'
import { deliverForeign } from './foreign/deliver.ts'
import { FOREIGN_OBJECTS } from './foreign/list.ts'
import { JOBS } from './jobs/endpoints.ts'
import { COPIES } from './moves/endpoints.ts'
import { PRESETS } from './presets/endpoints.ts'
import { SIGNING } from './signing/endpoints.ts'
import { HEALTH } from './system/health.ts'
import { getHome } from './system/home.ts'
import { getMetrics } from './system/metrics.ts'
import { getApiDocument } from './system/openapi.ts'
import { getParameters } from './system/parameters.ts'
import { REFERENCE } from './system/reference.ts'
import { SYSTEM } from './system/report.ts'
import { RESUMABLE } from './tus/endpoints.ts'
import { LINKED_UPLOADS } from './upload/by-link.ts'
import { DIRECT_UPLOADS } from './upload/direct/endpoints.ts'
import { UPLOADS } from './upload/endpoints.ts'
import { USAGE } from './usage/endpoints.ts'
import { WEBHOOKS } from './webhooks/endpoints.ts'

/** The endpoints that programs ask for the state of a process: no guard of callers comes before them. */
export const STATE = [getHome, ...HEALTH, getMetrics]

/** All other endpoints. The first one whose route matches handles a request: those with a wildcard come after the others. */
export const FEATURES = [
  getParameters,
  ...REFERENCE,
  ...CONSOLE_PAGES,
  getApiDocument,
  ...PRESETS,
  ...JOBS,
  ...SYSTEM,
  ...SIGNING,
  ...LINKED_UPLOADS,
  ...RESUMABLE,
  ...DIRECT_UPLOADS,
  ...UPLOADS,
  ...COPIES,
  ...FILES,
  ...FOREIGN_OBJECTS,
  ...ALIASES,
  ...ARCHIVES,
  ...SESSIONS,
  ...MEMBERS,
  ...AUDIT,
  ...USAGE,
  ...CLIENTS,
  ...WEBHOOKS,
  ...DELIVERIES,
  deliverAlias,
  ...FETCHES,
  deliverForeign,
  ...COMPAT,
  getInformation,
  getJob,
]

/** All endpoints. */
export const ENDPOINTS = [...FEATURES, ...STATE]
