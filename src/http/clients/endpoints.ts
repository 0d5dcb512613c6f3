import { createClient, deleteClient, getClient, listClients, updateClient } from './clients.ts'
import { addSecret, addUrlKey, removeSecret, removeUrlKey, rotateSecret } from './credentials.ts'
import { removeClientStorage, setClientStorage, testClientStorage } from './storage.ts'

/** Management of clients, for the operator: the functions of `sluice client`. */
export const CLIENTS = [
  listClients,
  createClient,
  getClient,
  updateClient,
  deleteClient,
  setClientStorage,
  removeClientStorage,
  testClientStorage,
  rotateSecret,
  addUrlKey,
  removeUrlKey,
  addSecret,
  removeSecret,
]
