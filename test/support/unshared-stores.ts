// For test files that sweep or erase: both affect all sites, so these files use their own stores instead of the shared ones.
delete process.env.FOOTFALL_TEST_STORES
