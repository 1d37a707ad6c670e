/** The type of the events that a subscription brings: `stream.offline` → `stream-offline`; underscores stay. */
export function toEventType(subscriptionType: string): string {
  return subscriptionType.replaceAll('.', '-');
}
