/** The records that the conformance cases append serve the tests of the adapters too. */
export * from "#lib/testing/conformance/run-records.ts";
