import { type Audit, createAudit } from './access/audit.ts'
import { type Clients, createClients } from './access/clients.ts'
import { createLinks, type Links } from './access/links.ts'
import { createMembers, type Members } from './access/members.ts'
import { createPresets, type Presets } from './access/presets.ts'
import { createSessions, type Sessions } from './access/session.ts'
import { createUrls, type Urls } from './access/urls.ts'
import { requestUsage, type UsageOptions } from './access/usage.ts'
import { createWebhooks, type Webhooks } from './access/webhooks.ts'
import { createJobs, type Jobs } from './delivery/jobs.ts'
import { type Aliases, createAliases } from './files/aliases.ts'
import { createFiles, type Files } from './files/files.ts'
import { createFolders, type Folders } from './files/folders.ts'
import type { ParameterLists, SystemReport, UsageReport } from './generated/api.ts'
import { type ApiOptions, type CallOptions, createApi } from './http/request.ts'
import { authorizationOf, type Token } from './http/token.ts'

/** How to reach an installation. */
export interface ClientOptions extends Omit<ApiOptions, 'authorization'> {
  /** The secret token of a client, or a scoped secret. Only on servers: pages use {@link createUploader}. */
  secret?: Token
  /** The token of an operator, for `clients`, and for `webhooks` without a secret. `clients.signIn` sets it too. */
  adminToken?: string
}

/** One client of one installation. */
export interface SluiceClient {
  files: Files
  folders: Folders
  aliases: Aliases
  presets: Presets
  links: Links
  urls: Urls
  jobs: Jobs
  /** The size of all files, and the activity of each day. @throws SluiceError */
  usage(options?: UsageOptions): Promise<UsageReport>
  clients: Clients
  webhooks: Webhooks
  sessions: Sessions
  members: Members
  /** The changes by people, for the operator. */
  audit: Audit
  /** The parameters of delivery URLs, also those of plugins, by the type of the file. @throws SluiceError */
  parameters(options?: CallOptions): Promise<ParameterLists>
  /** Version, checks, plugins and settings of the installation, for its operator. @throws SluiceError */
  system(options?: CallOptions): Promise<SystemReport>
}

/** Creates a client: `createClient({ baseUrl: 'https://files.example', secret })`. Sends no request. */
export function createClient({ secret, adminToken, ...options }: ClientOptions): SluiceClient {
  const api = createApi({ ...options, authorization: authorizationOf(secret) })
  const clients = createClients({ ...options, adminToken })
  const operator = createApi({ ...options, authorization: clients.authorization })
  const caller = secret === undefined ? clients.authorization : authorizationOf(secret)
  return {
    files: createFiles(api),
    folders: createFolders(api),
    aliases: createAliases(api),
    presets: createPresets(api),
    links: createLinks(api),
    urls: createUrls(api),
    jobs: createJobs(api),
    usage: (period) => requestUsage(api, period),
    clients: clients.calls,
    webhooks: createWebhooks(createApi({ ...options, authorization: caller })),
    sessions: createSessions(createApi({ ...options, session: {} })),
    members: createMembers(operator),
    audit: createAudit(operator),
    parameters: ({ signal } = {}) => api.json({ path: '/v1/parameters', isAnonymous: true, signal }),
    system: ({ signal } = {}) => operator.json({ path: '/v1/system', signal }),
  }
}
