import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** Free at this moment: another may take it before the server does, which then says so. */
export async function freePort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  holder.close()
  await once(holder, 'close')
  return port
}
