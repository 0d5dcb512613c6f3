import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './run.js'

/** Throws when this Node is older than package.json requires. npm itself only warns. */
export function checkNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = engines.node.replace('>=', '')
  if (!isOlder(process.versions.node, wanted)) return
  throw new Error(
    `Sluice needs Node ${wanted} or later, this is ${process.versions.node}. Get a newer one from https://nodejs.org`,
  )
}

function isOlder(version, wanted) {
  const [a, b] = [version, wanted].map((text) => text.split('.').map(Number))
  const different = a.findIndex((number, i) => number !== b[i])
  return different >= 0 && a[different] < b[different]
}
