import { execFile } from 'node:child_process'
import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { OpenApiDocument } from '../../../src/http/documents/openapi/document.ts'
import { onOneBackend } from '../../support/backends.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import type { Remote } from '../../support/requests/remote.ts'
import { fetchingFrom, fileServer } from '../../support/requests/remote-files.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const run = promisify(execFile)
const STRICT = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', 'false']
const TARGET = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2022']

interface Generator {
  /** Writes the client next to the document, which is in the file `document`. */
  generate(files: {
    folder: string
    document: string
    openApi: OpenApiDocument
    url: string
  }): Promise<unknown>
  /** A program that stores, lists, archives and deletes files, and prints what it has found, as people write one. */
  program: string
}

const BEGINNING = `
const { SECRET = '', SERVICE = '', REMOTE = '' } = process.env
const photo = new File(['the bytes of a file'], 'a.txt')
`

const GENERATORS: Readonly<Record<string, Generator>> = {
  'openapi-typescript and openapi-fetch': {
    async generate({ folder, openApi }) {
      const { default: openapiTypes, astToString } = await import('openapi-typescript')
      const types = await openapiTypes(JSON.stringify(openApi))
      await writeFile(join(folder, 'api.d.ts'), astToString(types))
    },
    program: `
import createClient from 'openapi-fetch'
import type { paths } from './api'
${BEGINNING}
const api = createClient<paths>({ baseUrl: SERVICE, headers: { Authorization: 'Bearer ' + SECRET } })
const form = () => {
  const data = new FormData()
  data.append('file', photo)
  return data
}
const stored = await api.POST('/v1/upload', { body: { file: [''] }, bodySerializer: form })
const put = await api.PUT('/v1/upload/{path}', {
  params: { path: { path: 'b.txt' } },
  headers: { 'Content-Type': 'application/octet-stream' },
  body: '',
  bodySerializer: () => photo,
})
const fetched = await api.POST('/v1/upload/url', { body: { url: REMOTE } })
const listed = await api.GET('/v1/files')
const key = stored.data?.[0]?.s3PathOriginal ?? ''
const archive = await api.POST('/v1/zip', {
  body: { files: [{ path: key }], archiveName: 'all.zip' },
  parseAs: 'arrayBuffer',
})
const deleted = await api.DELETE('/v1/upload/{path}', { params: { path: { path: key } } })
const missing = await api.GET('/v1/files/{path}', { params: { path: { path: key } } })
console.log(JSON.stringify({
  stored: [stored, put, fetched].map(({ data }) => data?.[0]?.originalName),
  listed: listed.data?.files.length,
  archive: Buffer.from(archive.data ?? new ArrayBuffer(0)).subarray(0, 2).toString(),
  deleted: deleted.data?.s3PathOriginal === key,
  missing: missing.error?.code,
}))
`,
  },
  'hey-api': {
    async generate({ folder, document }) {
      const { createClient } = await import('@hey-api/openapi-ts')
      await createClient({ input: document, output: join(folder, 'api'), logs: { level: 'silent' } })
    },
    program: `
import { createArchive, deleteFile, getFile, listFiles, uploadFile, uploadFiles, uploadFromUrl } from './api'
import { client } from './api/client.gen'
${BEGINNING}
client.setConfig({ baseUrl: SERVICE, auth: () => SECRET })
const stored = await uploadFiles({ body: { file: [photo] } })
const put = await uploadFile({ path: { path: 'b.txt' }, body: photo })
const fetched = await uploadFromUrl({ body: { url: REMOTE } })
const listed = await listFiles()
const key = stored.data?.[0]?.s3PathOriginal ?? ''
const archive = await createArchive({ body: { files: [{ path: key }], archiveName: 'all.zip' } })
const deleted = await deleteFile({ path: { path: key } })
const missing = await getFile({ path: { path: key } })
const bytes = archive.data instanceof Blob ? await archive.data.bytes() : new Uint8Array()
console.log(JSON.stringify({
  stored: [stored, put, fetched].map(({ data }) => data?.[0]?.originalName),
  listed: listed.data?.files.length,
  archive: Buffer.from(bytes).subarray(0, 2).toString(),
  deleted: deleted.data?.s3PathOriginal === key,
  missing: missing.error && 'code' in missing.error ? missing.error.code : undefined,
}))
`,
  },
  // Its PUT sends a Blob as JSON, and it parses an archive as JSON: so it uploads by a form, and archives by a link.
  orval: {
    async generate({ folder, document, url }) {
      const { generate } = await import('orval')
      await generate({
        input: document,
        output: { target: join(folder, 'api.ts'), client: 'fetch', mode: 'single', baseUrl: url },
      })
    },
    program: `
import { createArchiveLink, deleteFile, getFile, listFiles, uploadFiles, uploadFromUrl } from './api'
${BEGINNING}
const options = { headers: { Authorization: 'Bearer ' + SECRET } }
const stored = await uploadFiles({ file: [photo] }, undefined, options)
const second = await uploadFiles({ file: [new File(['b'], 'b.txt')] }, undefined, options)
const fetched = await uploadFromUrl({ url: REMOTE }, undefined, options)
const listed = await listFiles(undefined, options)
const key = stored.status === 200 ? (stored.data[0]?.s3PathOriginal ?? '') : ''
const link = await createArchiveLink({ files: [{ path: key }], archiveName: 'all.zip' }, options)
const archive = await fetch(link.status === 201 ? link.data.url : '')
const deleted = await deleteFile(key, undefined, options)
const missing = await getFile(key, options)
console.log(JSON.stringify({
  stored: [stored, second, fetched].map((one) => (one.status === 200 ? one.data[0]?.originalName : undefined)),
  listed: listed.status === 200 ? listed.data.files.length : 0,
  archive: Buffer.from(await archive.arrayBuffer()).subarray(0, 2).toString(),
  deleted: deleted.status === 200 && deleted.data.s3PathOriginal === key,
  missing: missing.status === 404 ? missing.data.code : undefined,
}))
`,
  },
}

onOneBackend('clients that are generated from the API document', (start) => {
  let service: Service
  let other: Remote
  before(async () => {
    other = await fileServer({ '/c.txt': Buffer.from('of another server') })
    service = await start({ env: fetchingFrom(other) })
  })
  after(() => other.close())

  for (const [name, { generate: write, program }] of Object.entries(GENERATORS))
    itLong(`by ${name} compile strictly, and store, list, archive and delete files`, async function () {
      this.timeout(120_000)
      const folder = await temporaryFolder()
      await symlink(join(PROJECT, 'test', 'node_modules'), join(folder, 'node_modules'))
      const openApi = jsonOf(await exchange(service, '/v1/openapi.json')) as unknown as OpenApiDocument
      const document = join(folder, 'openapi.json')
      await writeFile(document, JSON.stringify(openApi))
      await write({ folder, document, openApi, url: service.url })
      await writeFile(join(folder, 'program.ts'), program)
      await writeFile(join(folder, 'package.json'), '{"type": "module"}')
      const tsc = join(PROJECT, 'node_modules', 'typescript', 'bin', 'tsc')
      const types = ['--types', 'node', '--typeRoots', join(PROJECT, 'node_modules', '@types')]
      const args = [tsc, '--noEmit', ...STRICT, ...TARGET, ...types, 'program.ts']
      await run(process.execPath, args, { cwd: folder }).catch(({ stdout }) => {
        throw new Error(stdout)
      })
      const tsx = join(PROJECT, 'node_modules', 'tsx', 'dist', 'cli.mjs')
      const env = {
        ...process.env,
        SERVICE: service.url,
        SECRET: service.tokens.secretClientToken,
        REMOTE: other.url('/c.txt'),
      }
      const headers = { Authorization: service.tokens.secretClientToken }
      const listed = jsonOf(await exchange(service, '/v1/files', { headers })) as unknown as {
        files: unknown[]
      }
      const { stdout } = await run(process.execPath, [tsx, 'program.ts'], { cwd: folder, env })
      expect(JSON.parse(stdout)).to.deep.equal({
        stored: ['a.txt', 'b.txt', 'c.txt'],
        listed: listed.files.length + 3,
        archive: 'PK',
        deleted: true,
        missing: 'file_not_found',
      })
    })
})
