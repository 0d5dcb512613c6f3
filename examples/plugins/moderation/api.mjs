/**
 * Requests to the HTTP API of Sluice.
 *
 * @param {{ fetch: Function, signal: AbortSignal, origin: string, secret: string, allowAddresses: string[] }} context
 */
export function apiOf({ fetch, signal, origin, secret, allowAddresses }) {
  const { port, protocol } = new URL(origin)
  const access = { addresses: allowAddresses, ports: [Number(port) || (protocol === 'https:' ? 443 : 80)] }

  /**
   * @returns {Promise<{ status: number, headers: object, bytes: Buffer }>} also for errors of the file or the request
   * @throws Error for an error of the service, after which the event is delivered again
   */
  async function request(path, { method = 'GET', headers = {}, json, maxBytes = 1_000_000 } = {}) {
    const response = await fetch({
      url: origin + path,
      method,
      headers: {
        authorization: secret,
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      signal,
      timeoutMs: 20_000,
      maxBytes,
      access,
    })
    const { status } = response
    const bytes = Buffer.concat(await response.body.toArray())
    const isInfected = status === 403 && String(bytes).includes('"file_infected"')
    if (status === 401 || (status === 403 && !isInfected) || status === 429 || status >= 500)
      throw new Error(`${method} ${path.split('?', 1)[0]}: Sluice responded with ${status}`)
    return { status, headers: response.headers, bytes }
  }

  const recordPath = (key) => `/v1/files/${key.split('/').map(encodeURIComponent).join('/')}`
  return {
    /** The image in this size as PNG; undefined when it has been deleted, waits for its malware scan, is infected, or cannot be decoded. */
    async picture({ src, srcExpires }, side) {
      const query = `w=${side}&h=${side}&fit=fill&enlarge&f=png&a=0`
      const { pathname, search } = new URL(src)
      const signed =
        srcExpires === undefined ? `${pathname}?${query}` : await this.sign(`${pathname}${search}`, query)
      const { status, bytes } = await request(signed)
      return status === 200 ? bytes : undefined
    },

    /** The path with the parameters, and a signature for both. */
    async sign(path, query) {
      const url = `${path.split('?', 1)[0]}?${query}`
      const { bytes } = await request('/v1/sign/url', { method: 'POST', json: { url, expiresIn: 60 } })
      const { pathname, search } = new URL(JSON.parse(bytes).url)
      return pathname + search
    },

    /** The record of a file; undefined when it has been deleted. */
    async record(key) {
      const { status, headers, bytes } = await request(recordPath(key))
      return status === 200 ? { ...JSON.parse(bytes), etag: headers.etag } : undefined
    },

    /** Changes a record. @throws Error when it has been changed since it was read */
    async change(key, { etag, ...patch }) {
      const { status } = await request(recordPath(key), {
        method: 'PATCH',
        headers: { 'if-match': etag },
        json: patch,
      })
      if (status !== 200 && status !== 404) throw new Error(`the record could not be changed (${status})`)
    },

    /** Moves a file into a folder, under the same id. */
    async move(key, folder) {
      const to = `${folder}/${key.slice(key.lastIndexOf('/') + 1)}`
      const { bytes } = await request('/v1/files/move', {
        method: 'POST',
        json: { files: [{ from: key, to }] },
      })
      const [{ status, code }] = JSON.parse(bytes).results
      if (status === 'error' && code !== 'file_not_found')
        throw new Error(`the file could not be moved (${code})`)
    },
  }
}
