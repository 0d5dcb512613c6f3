import { createClient } from 'sluice/client'

const sluice = createClient({
  baseUrl: process.env.SLUICE_URL ?? 'http://localhost:3001',
  secret: () => process.env.SLUICE_SECRET,
})

export default defineEventHandler(async () => {
  const { files } = await sluice.files.page({ prefix: 'photos', type: 'image', limit: 12 })
  return files.map(({ src, originalName }) => ({ src, originalName }))
})
