import { IncomingMessage, ServerResponse } from 'node:http'

/** New classes for the requests and responses of one server. The service gives them the properties of Express. */
export function messageClasses(): {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
} {
  return {
    IncomingMessage: class extends IncomingMessage {},
    ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {},
  }
}
