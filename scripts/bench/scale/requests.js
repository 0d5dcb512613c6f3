import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { bytesOf } from '../load.js'
import { CLIENT_TOKEN, SECRET_CLIENT_TOKEN, uploadOf } from '../sluice.js'
import { get } from '../works/peer.js'

const headers = { Authorization: SECRET_CLIENT_TOKEN }

export function deliveryOf(key, query = '') {
  return get(`/v1/image/upload/${CLIENT_TOKEN}/${key}${query}`)
}

export function listOf(query) {
  return { ...get(`/v1/files?${query}`), headers }
}

/** The request for a file with its derivatives. */
export function fileOf(key) {
  return { ...get(`/v1/files/${key}`), headers }
}

export function deletionOf(key) {
  return { method: 'DELETE', path: `/v1/upload/${key}`, headers }
}

export function pictureOf(path) {
  return uploadOf([{ name: basename(path), bytes: readFileSync(path) }])
}

/** Uploads a file several times. @returns {Promise<string[]>} the keys */
export async function uploaded({ url }, { picture, count }) {
  const request = pictureOf(picture)
  const keys = []
  for (let i = 0; i < count; i += 1) {
    const [{ s3Path }] = JSON.parse(await bytesOf(url, request))
    keys.push(s3Path)
  }
  return keys
}

/** Whether the service compares its index with the bucket now. */
export async function isComparing(url) {
  return JSON.parse(await bytesOf(url, get('/readyz'))).comparison !== undefined
}
