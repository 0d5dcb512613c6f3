import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import type { Parameter } from './endpoint.ts'
import type { JsonSchema } from './json-schema.ts'

/** A parameter of the path. */
export function path(name: string, description: string, schema: JsonSchema = { type: 'string' }): Parameter {
  return { in: 'path', name, description, schema, required: true }
}

/** Parameters of paths, by name. */
export const PATH_PARAMETERS: Readonly<Record<string, Parameter>> = {
  group: path('group', 'Type of the file in URLs.', { type: 'string', enum: MEDIA_GROUPS }),
  token: path('token', 'Public token of the client.'),
  path: path('path', 'Path of the file: `[folder/]<sourceName>`, or its full key. Slashes separate folders.'),
  url: path('url', 'URL of the file on the other server, percent-encoded as one segment.'),
  name: path('name', 'Name of the file.'),
  id: path('id', 'ID.'),
  archiveName: path('archiveName', 'Name of the archive.'),
  signature: path('signature', 'Signature of the link.'),
  value: path('value', 'Value of the signed cookie.'),
  folder: path('folder', 'Folder of the file, `_` for no folder.'),
  version: path('version', 'Version of the key.', { type: 'integer', minimum: 1 }),
  secretId: path('secretId', 'ID of the scoped secret.'),
}

/** The path of an endpoint for one alias. */
export const ALIAS_NAME: Parameter = path('path', 'Name of the alias. Slashes separate folders.')

/** A parameter of the query. */
export function query(
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
  { required = false } = {},
): Parameter {
  return { in: 'query', name, description, schema, required }
}

/** A parameter without a value: `?now`. */
export function flagParameter(name: string, description: string): Parameter {
  return query(name, description, FLAG)
}

/** The values of a flag. Without a value it is switched on. */
export const FLAG: JsonSchema = { type: 'string', enum: ['', '1', '0', 'true', 'false'] }

/** A request header. */
export function header(
  name: string,
  description: string,
  schema: JsonSchema = { type: 'string' },
  { required = false } = {},
): Parameter {
  return { in: 'header', name, description, schema, required }
}
