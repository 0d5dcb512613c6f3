import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.js'
import { startServer } from '../server.js'

const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

// nginx writes its PID when it listens. It says nothing of its own on the output.
const SCRIPT = `nginx -p "$1" -c "$1/nginx.conf" & nginx=$!
trap 'kill $nginx' TERM
until [ -s "$1/nginx.pid" ]; do sleep 0.05; done
echo "ready at http://localhost:$2"
wait $nginx; wait $nginx`

export function isNginxInstalled() {
  return spawnSync('nginx', ['-v']).error === undefined
}

/** Starts nginx with one process. It serves a folder, and logs requests into a file. @param {{files: string, folder: string}} options */
export async function startNginx({ files, folder }) {
  const port = await freePort()
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off;
master_process off;
pid ${join(folder, 'nginx.pid')};
error_log stderr;
events { worker_connections 1024; }
http {
  types { image/webp webp; }
  access_log ${join(folder, 'access.log')};
  sendfile on;
  tcp_nopush on;
  keepalive_requests 10000000;
  ${TEMPORARY.map((name) => `${name}_temp_path ${join(folder, name)};`).join(' ')}
  server {
    listen 127.0.0.1:${port};
    root ${files};
    expires 7d;
  }
}
`,
  )
  return startServer({ program: 'sh', script: ['-c', SCRIPT, 'sh', folder, String(port)], folder })
}
