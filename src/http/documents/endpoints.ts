import type { DescribedParameters } from '../../core/plugin-api/describe-parameters.ts'
import type { Endpoint } from './endpoint.ts'
import { ALIASES } from './operations/aliases.ts'
import { CLIENTS } from './operations/clients.ts'
import { COMPAT } from './operations/compat.ts'
import { CONSOLE_PAGES } from './operations/console/pages.ts'
import { COPIES } from './operations/copies.ts'
import { DELETION } from './operations/deletion.ts'
import { deliveryEndpoints } from './operations/delivery.ts'
import { FILES } from './operations/files.ts'
import { foreignEndpoints } from './operations/foreign.ts'
import { LINKS } from './operations/links.ts'
import { MEMBERS } from './operations/members.ts'
import { AUDIT } from './operations/operator/audit.ts'
import { JOBS } from './operations/operator/jobs.ts'
import { CLIENT_USAGE } from './operations/operator/usage.ts'
import { RESUMABLE } from './operations/resumable.ts'
import { SERVICE } from './operations/service.ts'
import { UPLOADS } from './operations/uploads.ts'
import { WEBHOOKS } from './operations/webhooks.ts'

/** All endpoints of the API document. @param parameters of delivery URLs, with those of the loaded plugins */
export function documentedEndpoints(parameters: DescribedParameters): readonly Endpoint[] {
  return [
    ...UPLOADS,
    ...RESUMABLE,
    ...deliveryEndpoints(parameters),
    ...JOBS,
    ...COMPAT,
    ...FILES,
    ...foreignEndpoints(parameters),
    ...ALIASES,
    ...DELETION,
    ...COPIES,
    ...LINKS,
    ...CLIENT_USAGE,
    ...CLIENTS,
    ...MEMBERS,
    ...WEBHOOKS,
    ...AUDIT,
    ...SERVICE,
    ...CONSOLE_PAGES,
  ]
}
