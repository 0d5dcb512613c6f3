import { createClient } from 'sluice/client'

export const sluice = createClient({
  baseUrl: process.env.SLUICE_URL ?? 'http://localhost:3001',
  secret: () => process.env.SLUICE_SECRET,
})
