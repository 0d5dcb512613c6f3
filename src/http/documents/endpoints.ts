import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import { ALIASES } from '../aliases/endpoints.ts'
import { ARCHIVES } from '../archive/endpoints.ts'
import { CLIENTS } from '../clients/endpoints.ts'
import { AUDIT } from '../console/audit.ts'
import { SESSIONS } from '../console/endpoints.ts'
import { MEMBERS } from '../console/members.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { FILES } from '../files/endpoints.ts'
import { FOREIGN_OBJECTS } from '../foreign/list.ts'
import { JOBS } from '../jobs/endpoints.ts'
import { COPIES } from '../moves/endpoints.ts'
import { PRESETS } from '../presets/endpoints.ts'
import { SIGNING } from '../signing/endpoints.ts'
import { SYSTEM } from '../system/report.ts'
import { UPLOADS } from '../upload/endpoints.ts'
import { USAGE } from '../usage/endpoints.ts'
import { WEBHOOKS } from '../webhooks/endpoints.ts'
import type { Endpoint } from './endpoint.ts'
import { COMPAT } from './operations/compat.ts'
import { CONSOLE_PAGES } from './operations/console/pages.ts'
import { deliveryEndpoints } from './operations/delivery.ts'
import { foreignEndpoints } from './operations/foreign.ts'
import { RESUMABLE } from './operations/resumable.ts'
import { SERVICE } from './operations/service.ts'
import { LINKED_UPLOADS } from './operations/uploads.ts'

/** All endpoints that are defined with `endpoint()`, in the order of the document. */
export const DEFINED: ReadonlyArray<ServedEndpoint<never>> = [
  ...UPLOADS,
  ...JOBS,
  ...FILES,
  ...FOREIGN_OBJECTS,
  ...ALIASES,
  ...COPIES,
  ...SIGNING,
  ...ARCHIVES,
  ...USAGE,
  ...SESSIONS,
  ...CLIENTS,
  ...MEMBERS,
  ...WEBHOOKS,
  ...AUDIT,
  ...PRESETS,
  ...SYSTEM,
]

/** All endpoints of the API document. @param parameters of delivery URLs, with those of the loaded plugins */
export function documentedEndpoints(parameters: DescribedParameters): readonly Endpoint[] {
  return [
    ...LINKED_UPLOADS,
    ...RESUMABLE,
    ...deliveryEndpoints(parameters),
    ...COMPAT,
    ...foreignEndpoints(parameters),
    ...DEFINED,
    ...SERVICE,
    ...CONSOLE_PAGES,
  ]
}
