import { Autocomplete, Button, Group, Modal, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { endpointsQuery, scopesQuery, type Endpoint } from './reference-queries.js';
import { callMethods } from './send-call.js';

export const tokenTypes = { AP: 'The application’s token', OA: 'A user’s token' } as const;

const noEndpoint: Omit<Endpoint, 'id'> = {
  description: '',
  endpoint: '',
  method: 'GET',
  reference_url: '',
  token_type: 'AP',
  scope: null,
};

export function EndpointForm({ endpoint: changed, onClose }: { endpoint?: Endpoint; onClose: () => void }) {
  const queries = useQueryClient();
  const { data: scopes = [] } = useQuery(scopesQuery);
  const [{ id: _id, ...body }, setEndpoint] = useState<Endpoint>(changed ?? { id: '', ...noEndpoint });
  const save = useMutation({
    mutationFn: () =>
      changed
        ? call(
            api().PUT('/api/v1/platform/api-endpoints/{id}', { params: { path: { id: changed.id } }, body }),
          )
        : call(api().POST('/api/v1/platform/api-endpoints', { body })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: endpointsQuery.queryKey });
      onClose();
    },
  });
  const fieldErrors = save.error instanceof ApiError ? save.error.fieldErrors : {};
  const set = (changes: Partial<Endpoint>): void => setEndpoint((current) => ({ ...current, ...changes }));
  const text = (field: 'description' | 'endpoint' | 'reference_url') => ({
    value: body[field],
    error: fieldErrors[field],
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => set({ [field]: value }),
    maxLength: 255,
    required: true,
    withAsterisk: false,
  });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={changed ? 'Edit the endpoint' : 'Add an endpoint'}
      size="lg"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput label="Description" {...text('description')} data-autofocus />
          <Group align="flex-start" wrap="nowrap" gap="xs">
            <Autocomplete
              label="Method"
              data={callMethods}
              value={body.method}
              onChange={(method) => set({ method })}
              error={fieldErrors.method}
              maxLength={16}
              required
              withAsterisk={false}
              w={120}
            />
            <TextInput label="Path" placeholder="channels/followers" {...text('endpoint')} flex={1} />
          </Group>
          <TextInput label="Documentation" placeholder="https://…" {...text('reference_url')} />
          <Group grow align="flex-start">
            <Select
              label="Needs"
              data={Object.entries(tokenTypes).map(([value, label]) => ({ value, label }))}
              value={body.token_type}
              onChange={(type) => set({ token_type: type === 'OA' ? 'OA' : 'AP' })}
              allowDeselect={false}
              error={fieldErrors.token_type}
            />
            <Select
              label="With the scope"
              placeholder="No scope"
              data={scopes.map(({ id: value, scope: label }) => ({ value, label }))}
              value={body.scope}
              onChange={(scope) => set({ scope })}
              searchable
              clearable
              clearButtonProps={{ 'aria-label': 'No scope' }}
              error={fieldErrors.scope}
            />
          </Group>
          {save.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={save.error} />}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={save.isPending}>
              {changed ? 'Save' : 'Add endpoint'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
