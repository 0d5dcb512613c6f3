import type { DescribedParameters } from '../../../core/plugin-api/describe-parameters.ts'
import { COOKIE_PREFIX } from '../../../core/signing/signed-folder.ts'
import { SIGNATURE_WORD } from '../../../core/signing/signed-url.ts'
import { SESSION_COOKIE } from '../../console/cookie.ts'
import { methodOf } from '../../endpoint/route.ts'
import { documentedEndpoints } from '../documented.ts'
import type { Tag } from '../endpoint.ts'
import type { JsonSchema } from '../json-schema.ts'
import { documentedPath, headerComponents, operation } from './operation.ts'
import { componentSchemas } from './schemas.ts'
import { sharedParts } from './shared.ts'

// Of our own: zod generates the schemas, and the rest is data of the endpoints, which a package would need in its own form.

/** The properties of an installation that its API document depends on. */
export interface DocumentOptions {
  /** The version of Sluice. */
  version: string
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** The parameters of delivery URLs, with those of the loaded plugins. */
  parameters: DescribedParameters
}

/** The OpenAPI document of an installation. @see https://spec.openapis.org/oas/v3.1.1.html */
export interface OpenApiDocument {
  openapi: string
  paths: Record<string, Record<string, JsonSchema>>
  components: Record<string, JsonSchema>
  [member: string]: unknown
}

const TAGS: Readonly<Record<Tag, string>> = {
  Uploads: 'Store files: forms, single files, signed links, and resumable uploads by tus 1.0.',
  Delivery: 'Deliver files. Images, videos and audio are transformed by the parameters of the URL.',
  Files: 'List, describe, change, delete and archive stored files.',
  Links: 'Sign upload links and delivery URLs.',
  Clients: 'Manage clients and their secrets, as the operator.',
  Members: 'Sign in to the console, and manage its members.',
  Webhooks: 'Test the receivers of webhooks, and list and replay deliveries.',
  Service: 'The state of the service, and its parameters.',
}

const SECURITY_SCHEMES = {
  secret: {
    type: 'http',
    scheme: 'bearer',
    description:
      'The secret token of a client: `Authorization: Bearer <secret>`, or `Authorization: <secret>`. It may be limited to a folder, to uploads or to reading.',
  },
  admin: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token that `POST /v1/sign-in` returns.',
  },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The cookie of `POST /v1/session`. It counts only with the header `Sluice-Console: 1`. Endpoints that otherwise need the secret of a client also need `Sluice-Client: <client id>`.',
  },
  metrics: { type: 'http', scheme: 'bearer', description: 'The value of METRICS_TOKEN.' },
  signature: {
    type: 'apiKey',
    in: 'query',
    name: SIGNATURE_WORD,
    description:
      'The signature of a delivery URL. The rules `signedUrls` and `privateFolders` of a client require it.',
  },
  folder: {
    type: 'apiKey',
    in: 'cookie',
    name: COOKIE_PREFIX,
    description:
      'A signed cookie, in place of the signatures of all URLs of files in a folder. Its name may continue with `_` and other letters or digits.',
  },
}

const DESCRIPTION = `Sluice stores files in a bucket and delivers them, transformed by the parameters of the URL.

Delivery is public: the URL contains the public token of a client. Other requests need the secret of a client, or the token of the operator.

Every endpoint with GET supports HEAD. Delivery supports OPTIONS, and pages of any origin may use it. Errors are problem documents (RFC 9457): \`code\` is stable.`

/** Creates the OpenAPI 3.1 document from the schemas that validate requests and describe responses. */
export function openApiDocument({ version, baseUrl, parameters }: DocumentOptions): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {}
  const shared = { parameters: sharedParts('parameters'), responses: sharedParts('responses') }
  for (const endpoint of documentedEndpoints(parameters)) {
    const path = documentedPath(endpoint)
    paths[path] = { ...paths[path], [methodOf(endpoint.route).toLowerCase()]: operation(endpoint, shared) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Sluice',
      version,
      description: DESCRIPTION,
      contact: { name: 'The operator of this service', url: baseUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: shared.parameters.all(),
      responses: shared.responses.all(),
      headers: headerComponents(),
      schemas: componentSchemas(),
    },
  }
}
