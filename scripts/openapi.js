import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ready/run.js'

// Writes openapi.json into the folder of a build: the API of a service with the default configuration and no drop-in plugins.
const [, , dist] = process.argv
const load = (file) => import(pathToFileURL(join(dist, 'src', file)).href)
const { shippedParameters } = await load('assembly/shipped-parameters.js')
const { openApiDocument } = await load('http/documents/openapi/document.js')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const parameters = await shippedParameters(root)
const document = openApiDocument({ version, baseUrl: 'http://localhost:3000', parameters })
writeFileSync(join(dist, 'openapi.json'), `${JSON.stringify(document, null, 2)}\n`)
