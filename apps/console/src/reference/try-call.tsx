import { Button, Group, Modal, Select, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { CodeBlock } from '../kit/code-block.js';
import { ConfirmDialog } from '../kit/confirm-dialog.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { printUserText } from '../kit/print-user-text.js';
import { StatusText } from '../kit/status-text.js';
import { printCallAddress } from './call-address.js';
import type { Endpoint } from './reference-queries.js';
import { findBodyFault, sendCall } from './send-call.js';

export function TryCall({
  endpoint: { method: storedMethod, endpoint: path },
  onClose,
}: {
  endpoint: Endpoint;
  onClose: () => void;
}) {
  const method = storedMethod.toUpperCase();
  const isReading = method === 'GET';
  const [query, setQuery] = useState('');
  const [connection, setConnection] = useState('');
  const [body, setBody] = useState('');
  const [isConfirming, setConfirming] = useState(false);
  const bodyFault = findBodyFault(body);
  const send = useMutation({
    mutationFn: () =>
      sendCall({ method, path, query, connection, body }).catch(() => {
        throw new ApiError(0, undefined, undefined);
      }),
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (isReading) send.mutate();
    else setConfirming(true);
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={`Try ${method} ${printUserText(path)}`}
      // Otherwise, Escape would also close this dialog.
      closeOnEscape={!isConfirming}
      size="xl"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label="Query"
            description="The query string, without the question mark"
            placeholder="broadcaster_id=47019283&first=20"
            value={query}
            onChange={({ currentTarget }) => setQuery(currentTarget.value.replace(/^\?/, ''))}
            data-autofocus
          />
          <ConnectionSelect value={connection} onChange={setConnection} />
          {!isReading && (
            <Textarea
              label="Body"
              description="A JSON object, if the endpoint accepts a body"
              value={body}
              onChange={({ currentTarget }) => setBody(currentTarget.value)}
              error={bodyFault}
              autosize
              minRows={4}
              maxRows={14}
              styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            />
          )}
          <Group justify="flex-end">
            <Button
              type="submit"
              color={isReading ? 'brand' : 'red.8'}
              leftSection={<IconSend size={15} />}
              loading={send.isPending}
              disabled={bodyFault !== undefined}
            >
              Send {method}
              {!isReading && '…'}
            </Button>
          </Group>
        </Stack>
      </form>
      {isConfirming && (
        <ConfirmDialog
          title="Send the call?"
          action="Send"
          onClose={() => setConfirming(false)}
          onConfirm={() => send.mutateAsync()}
        >
          <Stack gap="xs">
            <CodeBlock
              label="Call"
              text={`${method} ${location.origin}${printCallAddress({ path, query, connection })}`}
            />
            <span>The call changes data on the platform. The service cannot undo the change.</span>
          </Stack>
        </ConfirmDialog>
      )}
      {send.error && <FaultNotice error={send.error} />}
      {send.data && (
        <Stack gap="xs" mt="md" aria-live="polite">
          <Group justify="space-between">
            <StatusText tone={send.data.status < 400 ? 'good' : 'bad'}>
              {send.data.status} {send.data.statusText}
            </StatusText>
            {send.data.remaining !== null && (
              <Text size="xs" c="dimmed">
                Calls left in the rate limit: {send.data.remaining}
              </Text>
            )}
          </Group>
          {send.data.text && <CodeBlock label="Reply" text={send.data.text} />}
        </Stack>
      )}
    </Modal>
  );
}

function ConnectionSelect({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { data: connections = [] } = useQuery({
    queryKey: ['platform', 'connections'],
    queryFn: () => call(api().GET('/api/v1/platform/connections')),
  });
  const connected = connections.filter(({ state }) => state === 'connected');
  if (connected.length === 0) return null;
  return (
    <Select
      label="As"
      data={[
        { value: '', label: 'Automatic: the user that the call needs, or the application' },
        ...connected.map(({ id, platform_username }) => ({ value: id, label: platform_username ?? id })),
      ]}
      value={value}
      onChange={(id) => onChange(id ?? '')}
      allowDeselect={false}
    />
  );
}
