import { createIPX, createIPXNodeServer, ipxFSStorage } from 'ipx'
import sharp from 'sharp'
import { listen } from '../peers/listen.js'

// GET /w_<width>,f_webp,q_75/<name> transforms a file of the folder argv[2]. The settings are those of
// src/engines/image/sharp.ts.
sharp.concurrency(1)
sharp.cache(false)

listen(createIPXNodeServer(createIPX({ storage: ipxFSStorage({ dir: process.argv[2] }) })))
