// For a test file that sweeps or erases: both are done for all sites at once, so it has stores of its own instead of those that files share.
delete process.env.FOOTFALL_TEST_STORES
